r"""The words in which models state, doubt, reject and correct an answer: the vocabulary of `choice`.

To teach the reader a new way of saying "the answer is C", add a word to a list below and a reply to the labelled
replies of the tests. Patterns are tried on windows of bounded length, so that time stays linear in the text.
"""

from __future__ import annotations

import re

SEARCHED = 300
"""No answer is longer: what a statement says is read so far, which also keeps the time linear."""


def any_of(*words: str) -> str:
    """Match any of some words; a blank in a word is any white space."""
    return "(?:" + "|".join(word.replace(" ", r"\s") for word in words) + ")"


# Subjects: what the answer is called.

_ANSWER = any_of(
    *("answers?", r"ans\.?", "antwort", "lösung", "réponse", "reponse", "respuesta", "risposta", "resposta"),
    *("jawaban(?:nya)?", "antwoord", "svar(?:et)?", "odpowiedź", "odpověď", "cevap", "yanıt", "vastaus", "válasz"),
    *("răspuns(?:ul)?", "đáp án", "απάντηση", "ответ", "відповідь", "отговор", "الإجابة", "الجواب", "תשובה", "उत्तर"),
    *("উত্তর", "پاسخ", "คำตอบ", "答案", "回答", "解答", "答え", "答", "正解", "정답", "답변", "답"),
)
_THING = any_of(
    *("option", "choice", "letter", "pick", "selection", "response", "solution", "verdict", "conclusion", "result"),
    *("(?:(?:in)?correct |false |untrue |wrong )?statement", "exception", "odd one out", "one", "output", "prediction"),
    *("label", "version", "vote", "guess", "fit", "match", "opción", "opzione", "opção", "alternativa", "选项"),
    *(
        "selected",
        "chosen",
        "choose",
        "select",
        "final",
        "tl;dr",
        "winner",
        "decision",
        "correct",
        "right",
        "revised",
        "alternative",
        "вариант",
    ),
)
_FINAL = any_of(
    *("the", "my", "our", "final", "correct", "best", "right", "most", "appropriate", "likely", "only"),
    *("closest", "chosen", "selected", "revised", "updated", "corrected", "actual", "true", "new", "overall", "proper"),
    *(
        "suitable",
        "accurate",
        "educated",
        "short",
        "quick",
        "brief",
        "simple",
        "die",
        "der",
        "das",
        "la",
        "le",
        "el",
        "il",
        "a",
        "o",
        "het",
        "richtige",
    ),
    *("korrekte", "bonne", "correcta", "corretta", "correta", "juiste", "rätt", "rette", "riktige", "prawidłowa"),
    *("poprawna", "doğru", "správná", "правильный", "правильна", "верный", "सही", "正确的?", "最终", "所以", "최종"),
)
_SUBJECT = rf"(?:{_FINAL}\s{{0,2}}){{0,4}}(?:{_ANSWER}(?:\s(?:choice|option|letter|key))?|{_THING})"
_PAIRED = (
    rf"(?:{_FINAL}\s{{0,2}}){{0,4}}{_ANSWER}(?:\s(?:choice|option|letter|key))?|(?:{_FINAL}\s{{0,2}}){{1,4}}{_THING}"
)
_NUMBERED = r"(?:(?:question|q|problem|item)\s?\d{1,4}\s?[:.)]\s?|\d{1,4}[.)]\s)"
_ABOUT = (
    r"(?:\s(?:correcta?|correcte|corretta|correta|finale?|richtig|corect))?"
    r"(?:\s(?:to|for|of)\s(?:(?:this|the|your)\s)?(?:question|q|problem|item)?\s?\d{0,4})?"
)
_HERE = r"(?:(?:sure|certainly|of\scourse|okay|ok|yes|great)[!,.]{1,2}\s)?here(?:'s|\sis)\s"
_LONE = r"[(\['<]{0,4}[A-Z][)\]'>]{0,4}[.!]?\s{0,3}$"
_COPULA = r"(?:(?:应该?|應該?)?(?:是|为|為|选|選)|は|은|는)"
_POINTER = r"(?:[-=]{0,2}[>→➜⇒]{1,3}|:=|[:=]|-(?!\w))"

LINE = re.compile(
    rf"[^\w\s]{{0,2}}\s?{_NUMBERED}?(?:(?:so|thus|therefore|hence)\b[\s,:]{{0,4}})?(?:{_HERE})?(?:{_SUBJECT}{_ABOUT}\s{{0,3}}(?:\b(?:is|are)\b)?\s{{0,3}}{_POINTER}"
    rf"|[(\[]{_ANSWER}[)\]]\s?:?(?=\s?\S)"
    rf"|(?:{_PAIRED})(?:\s{{0,3}}$|\s{{1,3}}(?=(?-i:{_LONE}))|\s{{0,2}}{_COPULA}\s?[::]?))",
    re.IGNORECASE,
)
"""The beginning of a line that declares the answer: "Answer:", "**Final answer** -", "答案是"."""
INLINE = re.compile(
    r"\bANSWER\s?:|\b(?:[Ff]inal|[Mm]y) (?:[Aa]nswer|[Dd]ecision|[Cc]hoice|[Vv]erdict|[Pp]ick)\s?:"
    r"|\b(?:[Aa]nswer|[Ff]inal):(?=\s?[(*]{0,3}[A-Z]\)?[\s,.*]{0,5}$)"
    rf"|(?:答案|选项){_COPULA}?:?(?=\s?[(]?[A-Z])|[故应我]?(?:该)?选(?:择|项)?:?(?=\s?[(]?[A-Z])"
)
"""The same within a line."""
NUMBER = re.compile(r"(?:(?:question|q|problem|item)\s?)?\d{1,4}\s?[:.)]\s?(?=\W{0,2}[A-Z]\W{0,2}$)", re.IGNORECASE)
"""A question's number before nothing but a letter."""

# Leads: what stands right before a letter that is stated.

_ADVERBS = (
    r"(?:,?\s(?:though|however|clearly|really|truly|definitely|indeed|therefore|thus|then|simply|obviously|certainly|surely|hence|actually|now"
    r"|in fact|probably|(?:most\s|very\s|quite\s)?likely|presumably|almost certainly|i think|i believe|i guess"
    r"|in my (?:view|opinion)|here|correcta?|corretta|correta|đúng|yang benar|to (?:this|the|your) question"
    r"|that (?:does not|doesn't|is not|isn't) \w{1,15}"
    r"|that (?:is |best )?(?:not )?(?:correct|true|right|false|fits|describes|fits best|describes this)"
    r"|(?:for|to) (?:this|the|your)? ?(?:question|problem)?(?: \d{1,3})?|given"
    r"|(?:among|amongst|of|from|out of) (?:all )?(?:the |these |those )?(?:given |listed |available |provided |above "
    r"|remaining |four |five ){0,2}(?:choices|options|alternatives|answers)"
    r"(?: given| listed| provided| above)?),?){0,2}"
).replace(" ", r"\s")
_BE = any_of(
    *("is", "are", "must be", "has to be", "should be", "would be", "will be", "becomes", "remains", "ist", "lautet"),
    *(
        "(?:would|should|must|will) (?:therefore|thus|then|hence) be",
        "(?:has got|gotta|got to) be",
        "can only be",
        "(?:(?<=correct answer )|(?<=right answer ))was",
        "(?:appears|seems|looks|turns out|ought|needs) to be",
    ),
    *(
        "est(?: la)?",
        "es(?: la)?",
        "è(?: la)?",
        "é(?: a)?(?: letra)?",
        "är",
        "adalah",
        "là",
        "to",
        "(?:الصحيحة )?هي",
        "jest",
    ),
)
OPTION_WORD = (
    r"(?:(?:the|la|die|der)\s)?(?:answer\s)?(?:option|choice|letter|answer|response|alternative|opción|opcion|opção|opzione"
    r"|alternativa|letra|lettre|lettera|antwort|buchstabe|вариант)\s"
)
"""What an option may be called right before its letter."""
_OPTION = rf"(?:{OPTION_WORD})?"
_FOREIGN = any_of(
    *("antwort", "lösung", "réponse", "reponse", "respuesta", "risposta", "resposta", "jawaban(?:nya)?", "antwoord"),
    *("svar(?:et)?", "odpowiedź(?:ią)?", "odpověď", "cevap", "yanıt", "vastaus", "válasz", "răspuns(?:ul)?", "đáp án"),
    *("câu trả lời", "απάντηση", "ответ(?:ом)?", "відповідь", "отговор", "الإجابة", "الجواب", "תשובה", "उत्तर", "উত্তর"),
    *(
        "choix",
        "elección",
        "scelta",
        "escolha",
        "پاسخ",
        "opción",
        "opción correcta",
        "opzione",
        "opção",
        "alternativa",
        "вариант",
    ),
)
CALLED = re.compile(rf"\b{OPTION_WORD}[(\['<]{{0,3}}$", re.IGNORECASE)
_CHOOSE = any_of(
    *("choose", "chose", "chosen", "choosing", "pick(?:ed|ing)?", "select(?:ed|ing)?", "go(?:ing)? (?:with|for)"),
    *("went with", "settled? (?:on|for)", "votes?(?: for)?", "voting for", "say", "answer", "opt(?:ed)? for"),
    *("decided? (?:on|for)", "conclude", "guess", "mark", "stick with", "sticking with"),
    *(
        "prefer",
        "favou?r",
        "take",
        "submit",
        "propose",
        "offer",
        "recommend",
        "nominate",
        "have (?:said|chosen|picked)",
        "(?:revise|update|change) my answer to",
    ),
)
_SPEAKER = (
    r"(?:I|we)(?:'ll|'d|'m|'ve|\swill|\swould|\sam|\shave|\sshould|\smust|\scan|\shad\sto)?"
    r"(?:\s(?:going\sto|to|like\sto|need\sto))?"
)
_OFTEN = r"(?:\s(?:therefore|thus|now|then|hereby|definitely|ultimately|finally|confidently|still))?"
_THINK = any_of("think", "believe", "conclude", "feel", "(?:am|'m) (?:confident|sure|certain)", "would say", "'d say")

FREE = re.compile(
    rf"(?:\b(?:{_ANSWER}|{_THING}){_ADVERBS}(?:\s{_BE}{_ADVERBS}|'s)\s?[:,]?\s{{0,3}}|\b{_ANSWER}\s?[:=]\s?|{_ANSWER}{_COPULA}?\s?"
    rf"|(?:सही|doğru)\s{_ANSWER}\s"
    rf"|\b(?:{_SPEAKER}{_OFTEN}|please|kindly)\s{_CHOOSE}\s?:?\s{{0,3}}|\b{_SPEAKER}\s(?:\w{{1,12}}\s)?{_THINK}(?:\sthat)?:?\s"
    r"|\b(?:vote|pick|point|prize)\sgoes\s(?:to|for)\s|\bin\sfavou?r\sof\s|(?:\b(?:chang|switch)\w{1,4}(?:\s(?:(?:my|the)\sanswer|it|this|that))?|\banswer\schanges)\s(?:from\s\W?[A-Z]\W?\s)?to\s"
    r"|\b(?:chang|switch|correct|revis|updat|amend|mov)\w{1,4}\s(?:\w{1,8}\s){0,3}from\s[(\[]?[A-Z][)\]]?\sto\s"
    rf"|richtig\sist\s|\bich\s(?:würde|wähle|nehme|tippe\sauf)\s|\bje\s(?:choisis|dirais|prends)\s"
    rf"|\b(?:elijo|escojo|escolho|scelgo|выбираю)\s){_OPTION}[(\['<]{{0,3}}$",
    re.IGNORECASE,
)
"""A lead after which the letter counts whatever follows it, hedges apart."""
_LINK = any_of(
    *("it is", "it'?s", "that is", "that's", "this is", "which is", "(?:it |that |this |which )?must be"),
    *("(?:it|that|this|which) (?:has to|should|would|will|can only) be", "leav(?:es|ing)(?: us with| only)?"),
    *(
        "left with",
        "(?:it|that|this)'(?:d|ll) be",
        "i\\.e\\.,?",
        "namely,?",
        "we (?:get|have|find|obtain)",
        "i get",
        "none other than",
        "listed (?:as|under|in)",
    ),
    *(
        "anything (?:other|else) than",
        "what(?:'s| is) in",
        "(?:(?:it|this|that) )?(?:looks|seems|sounds|feels)(?: like| to be)?",
        "points? (?:us )?to",
        "(?:it's |that's )?gotta be",
    ),
)
_RELATES = any_of(
    *(
        "giv(?:es|ing)(?: us)?",
        "yield(?:s|ing)",
        "(?:resulting|results) in",
        "lead(?:s|ing)? (?:us )?to",
        "matches",
        "match(?:ing|es)?(?: with)?",
        "correspond(?:s|ing)? to",
        "means",
    ),
    *(
        "(?:fits?|agrees?|accords?|tallies|squares?|goes|consistent)(?: best| well| exactly| perfectly)? with",
        "(?:shown|given|represented|illustrated|expressed|reflected|covered|indicated) (?:by|in|as|under)",
    ),
    *(
        "indicates",
        "implies",
        "equals",
        "aligns with",
        "supports",
        "→",
        "⇒",
        "=>",
        "->",
        "favou?rs?",
        "suggests",
        "proves",
    ),
    *(
        "(?:(?:fully|best|entirely|perfectly) )?(?:consistent|compatible) with",
        "(?:best )?(?:captured|explained|described|stated|supported) (?:by|in)",
    ),
    *(
        "points? (?:us )?(?:squarely |clearly |strongly |directly )?(?:to|at|towards?)",
        "land(?:s|ed|ing)? on",
        "lock(?:s|ed|ing)? in",
        "put me down for",
    ),
    *("comes? down to", "settles? (?:it|this|the matter)(?: for| as)?", "backs?", "bet on", "leans? (?:to|towards?)"),
)
_SO = any_of(
    *(
        "so",
        "thus",
        "therefore",
        "hence",
        "consequently",
        "accordingly",
        "definitely",
        "clearly",
        "obviously",
        "surely",
    ),
    *("certainly", "ok(?:ay)?", "easy", "of course", "sure", "yes", "in conclusion", "by elimination", "and finally"),
    *(
        "in short",
        "in summary",
        "to (?:sum up|summari[sz]e)",
        "simply put",
        "straightforward",
        "ye[ap]h?",
        "(?<=, )but",
    ),
    *(
        "given (?:this|that|the above)",
        "without (?:a )?(?:doubt|question)",
        "hands down",
        "def",
        "prolly",
        "just",
        "only",
        "overall",
        "no doubt",
        "undoubtedly",
        "tl;dr",
        "overall",
    ),
    *("ultimately", "based on (?:this|that|the above)", "in the end", "as a result", "finally", "∴", "is it"),
    *(
        "by process of elimination",
        "if (?:i )?(?:had to|must) (?:choose|pick|guess|say|decide)",
        "(?:if )?(?:forced|pressed|pushed)(?: to (?:choose|pick|guess))?",
        "my (?:best )?guess",
        "(?:(?:most|more than|very|quite) )?likely",
        "probably",
        "presumably",
        "(?:almost|nearly) certainly",
        "i suppose",
    ),
)
_CORRECTS = any_of(
    *("actually", "wait", "wait,? no", "no,? wait", "no(?=[,:;.!-])", "correction", "i mean", "i meant", "or rather"),
    *(
        "hmm",
        "sorry(?=\\s?[,:;.!-])",
        "oops",
        "make (?:that|it)",
        "scratch that",
        "on second thoughts?",
        "on reflection",
    ),
    *("(?:let me )?correct (?:myself|that)", "upon reflection", "on reconsideration", "i stand corrected", "rather"),
    *("edit", "changed my mind", "on closer (?:inspection|look)", "(?:up)?on (?:further )?review", "thinking again"),
)
_ENTER = rf"{_OPTION}[(\['<]{{0,3}}$"
BOUND = re.compile(
    rf"(?:(?:^|[^\w'])(?:{_LINK}{_ADVERBS}|(?<![\w'])(?:{_SO}|{_CORRECTS}))\s?[,:;.!-]{{0,3}}\s{{0,2}}"
    rf"|(?:\bnot|n't)\s[(]?[A-Z][)]?,?\s(?:but\s(?:rather\s)?)?"
    r"|(?<!\w)(?:sondern|sino(?:\sque\ses)?|ma\sbensì|bensì|mas\ssim|utan|maar|lecz|а|而是|(?<=ではなく)|(?<=なくて))\s?(?:la\s|die\s|a\s)?"
    rf"|\b(?:and|(?<!want\s)(?<!wanted\s)(?<!tempted\s)(?<!used\s)to)\s(?:say|choose|pick|go\swith|guess|answer)\s|\b(?:but|then|and)\s(?:chose|picked|selected|settled\son|went\swith)\s|\baccept\s"
    r"|\b(?:best|correct|right|proper|fitting|suitable)\s(?:(?!wrong|incorrect|false)\w{3,14}\s){1,3}(?:is|must\sbe|would\sbe)\sthe\sone\s(?:\w{4,8}\s)?(?:in|under|at)\s"
    rf"|(?:^|[.!?)]\s)(?:(?:so|therefore|thus|hence),?\s)?(?:choose|select|pick|go\swith|going\swith|let's\sgo\swith|settl(?:ed|ing)\s(?:on|for)|landed\son|decided\son|sticking\swith)\s{{1,2}}){_ENTER}",
    re.IGNORECASE,
)
"""A lead after which the letter counts if its clause ends there."""
RELATES = re.compile(rf"(?:^|[^\w'])(?P<verb>{_RELATES}){_ADVERBS}\s?[,:;.!-]{{0,3}}\s{{0,2}}{_ENTER}", re.IGNORECASE)
"""The same, unless a letter stands before it: "A implies B" is about A and B."""
IS = re.compile(
    rf"[\w,)](?<!\bso)(?<!\bas)(?<!\bthere)\s(?:is{_ADVERBS}|lean(?:ing)?\stowards?|(?:es|est|è)\sla|é\sa)\s?[,:;.!-]{{0,3}}\s{{0,2}}{_ENTER}",
    re.IGNORECASE,
)
"""The weakest lead ("the capital is B"): it counts only where nothing else is said."""
TURNS = re.compile(r"\b(?:but|however|yet|although|though)\b", re.IGNORECASE)
ELSEWHERE = re.compile(
    rf"(?:\b{_FOREIGN}(?!(?:ы|s|en|n|i|ler|lar)\b)|คำตอบ(?:คือ)?)(?P<gap>(?:\s?[^\W\d_]{{1,15}}){{0,3}})\s?:?\s{{0,2}}{_ENTER}",
    re.IGNORECASE,
)
"""The answer in other languages, and a few words of them before the letter."""
ABROAD = re.compile(
    r"\s?(?!(?:和|与|或|及|还|跟|か|または|و\s?[A-Z]|أو|или|и\s|या|और))"
    r"(?![^\n。.،,]{0,12}(?:不|错|誤|误|ない|なく|なか|아니|아닌|لا\s|ليس|خطأ|не|नहीं|ไม่))[\u0370-\u9fff\uac00-\ud7af]"
    r"|\s(?:seçene|şıkk)\w{1,8}\b(?!\s(?:değil|ol[am]|san|gibi|yanl))"
)
"""After a letter: a sentence that goes on in another script, and neither denies it nor names a second one."""
EQUALLY = re.compile(r"\b(?:equally|just\sas\s(?:well|likely|good))\s?[:,]?\s(?:option\s)?[(\['<]{0,3}$", re.IGNORECASE)
"""Before a letter that is as good as the one before it: "But equally: B"."""
ADDRESSED = re.compile(r"\b(?:sorry|goodbye|farewell|bye|dear|thanks|thank\syou|hello|hey)\W{1,3}$", re.IGNORECASE)
"""Before a letter that is spoken to: "Sorry, D, thanks for playing"."""
DENIED = re.compile(
    r"\b(?:nicht|kein\w{0,2}|pas|no|não|non|nem|niet|nie|inte|ikke|değil|ei|ne|не|nu|không|bukan|δεν|नहीं)\b|不|لا|ليس|ไม่|않",
    re.IGNORECASE,
)
REJECTED = re.compile(
    r"['\])>]{0,3}\s(?:is|was|are|were)\s(?:\w{1,12}\s)?(?:wrong|incorrect|false|mistaken|not|impossible|invalid)\b"
    r"|['\])>]{0,3},?\s(?:but|though|yet)\s(?:that|this|it)(?:'s|\s(?:is|was|would\sbe))\s(?:an?\s)?(?:\w{3,12}\s)?(?:mistake|error|slip|trap|wrong|incorrect|false)\b",
    re.IGNORECASE,
)
"""After a letter that was named only to be rejected."""
SPOKEN_OF = re.compile(
    r"['\])>]{0,3}(?:\s\([^()]{1,80}\)|,\s[^,;:.()]{1,60},)\s(?:(?:is|was|are|were|has|does)(?:n't)?|describes|refers)\b"
    r"(?!\s(?:(?!not|never)\w{2,12}\s){0,2}(?:better|best|correct|right|true|answer|likely|likelier)\b)",
    re.IGNORECASE,
)
"""After a letter and an aside: its sentence is about the option, as in "Note: option A (oxygen) is …"."""
ALONE = re.compile(r"(?:(?:\w{3}|\bI(?=:)|\b[A-Z](?=\?))(?:[:;.!?]|\s?-)|\w\s\w{2,20},)\s[(\['<]{0,3}$")
"""Before a letter that is all that is left of a line: "A, B and D are wrong: C."."""
EXCEPTED = re.compile(
    r"\b(?:all|every\w{0,5})\b[^.;]{0,60}\b(?:is|are|do|does|can|have|has)\b[^.;]{0,60}\b(?:except(?:\sfor)?|but|save)\s(?:option\s)?[(\['<]{0,3}$",
    re.IGNORECASE,
)
"""Before the one option of which something is not true that is true of all others: "all of these are true except"."""
EXCEPT = re.compile(
    r"\b(?:all|every\w{0,5}|any|options?|others?|choices?)\b[^.;]{0,20}\b(?:but|except(?:\sfor)?|other\sthan)\s(?:for\s)?[(\['<]{0,3}$",
    re.IGNORECASE,
)
"""Before the one letter that the others are not."""
GOES_ON = (
    r"(?:because|since|as|due|given|which|where|that(?!\s(?:is|was|seems|looks|has|fails|does)\b)|with|rather|instead|not|and\s(?:not|none|no|nothing|only)|on\s(?:this|that)|so|but|for|over|than|from|by|here|though|although"
    r"|while|whereas|based|according|again|after|without|only|alone|to\sme|all\sthe\sway|hands\sdown|of\scourse|tbh|imo|lol"
    r"|(?:most\s)?likely|probably|definitely|then(?=\W{0,3}$)|i\s(?:think|believe|guess|suppose|reckon|would\ssay)"
    r"|i(?:'m|\sam)\s(?:(?:very|quite|pretty|so|really|absolutely|completely|100%)\s)?(?:sure|certain|confident|positive))"
)
"""What a sentence may go on with after the letter that it states."""
ENDS = re.compile(
    r"['\])>]{0,3}(?:\s{0,2}(?:$|[✔✓✅☑]|[.!;:](?!\w)|,\s(?!\w{1,12}\s(?:is|are)\b)|\()|\s(?:-|→)|\s"
    + GOES_ON
    + r"\b)",
    re.IGNORECASE,
)
TAIL = re.compile(
    r"['\])>]{0,3},?\s(?:(?:i\s(?:think|believe|guess|suppose|reckon|would\ssay|'d\ssay)"
    r"|(?:most\slikely|probably|likely|definitely|obviously|clearly|certainly|surely)|of\scourse|for\s(?:sure|certain)"
    r"|final\sanswer|all\sthe\sway|hands\sdown|no\s(?:doubt|question)(?:\sabout\sit)?|without\s(?:a\s)?doubt|only|alone"
    r"|and\s(?:only|not)\s[A-Z]|after\sall|in\smy\s(?:view|opinion)|with\s\d{1,3}%\s(?:confidence|certainty)|to\sme|it\sis|then|here"
    r"|lol|tbh|imo|imho|bro|man|dude|mate|haha|thanks)\W{0,3}){1,3}$",
    re.IGNORECASE,
)
"""What may follow a letter that is all that is said."""
NAMED_OPTION = re.compile(
    r"(?:[,:-]\s|\(|\b(?:is|be)\s|\bi\.e\.,?\s|\b(?:matches|matching|to|means|leaves|with|gives|as|in)\s)(?:the\s)?(?:answer\s)?(?:option|choice)\s[(\['<]{0,3}$",
    re.IGNORECASE,
)
"""Before a letter that ends its clause: "Paris, option C"."""
# A bare letter is an option where a clause begins with it: "so B is the answer", not "vitamin B is the answer".
BEGINS = re.compile(
    r"(?:^|[.,:;!?\u3040-\u9fff-]|\b(?:so|therefore|thus|hence|that|then|think|believe|conclude|but|only|and|means|because|while|since"
    rf"|although|though|(?:see|shows?|clear)(?:\sfor\syourself)?\swhy|ist|est|es|overall|opinion|view|mind|like|me|here|options?|choices?)|(?<![\w']){_CORRECTS})\s{{0,2}}[(\['<]{{0,3}}$",
    re.IGNORECASE,
)
OPTION = re.compile(
    r"\b(?:option|choice|answer|statement|response|output|assistant|sentence|antwort|opción|opzione|opção|alternativa)\s[(\['<]{0,3}$",
    re.IGNORECASE,
)
LINKED = re.compile(
    r"\b(?:or|and|nor|neither)\s(?:option\s|choice\s)?[(\['<]{0,3}$|[&/]\s?[(\['<]{0,3}$", re.IGNORECASE
)
