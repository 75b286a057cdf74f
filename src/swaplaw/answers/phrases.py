r"""The words in which models state, doubt, reject and correct an answer: the vocabulary of `choice`.

To teach the reader a new way of saying "the answer is C", add a word to a list below and a reply to the labelled
replies of the tests. Patterns are tried on windows of bounded length, so that time stays linear in the text.
"""

from __future__ import annotations

import re

SEARCHED = 300
"""No answer is longer: what a statement says is read so far, which also keeps the time linear."""


def _any(*words: str) -> str:
    """Match any of some words; a blank in a word is any white space."""
    return "(?:" + "|".join(word.replace(" ", r"\s") for word in words) + ")"


# Subjects: what the answer is called.

_ANSWER = _any(
    *("answers?", r"ans\.?", "antwort", "lösung", "réponse", "reponse", "respuesta", "risposta", "resposta"),
    *("jawaban(?:nya)?", "antwoord", "svar(?:et)?", "odpowiedź", "odpověď", "cevap", "yanıt", "vastaus", "válasz"),
    *("răspuns(?:ul)?", "đáp án", "απάντηση", "ответ", "відповідь", "отговор", "الإجابة", "الجواب", "תשובה", "उत्तर"),
    *("উত্তর", "پاسخ", "คำตอบ", "答案", "回答", "解答", "答え", "答", "正解", "정답", "답변", "답"),
)
_THING = _any(
    *("option", "choice", "letter", "pick", "selection", "response", "solution", "verdict", "conclusion", "result"),
    *("(?:(?:in)?correct |false |untrue |wrong )?statement", "exception", "odd one out", "one", "output", "prediction"),
    *("label", "vote", "guess", "fit", "match", "opción", "opzione", "opção", "alternativa", "选项"),
    *("selected", "chosen", "tl;dr"),
)
_FINAL = _any(
    *("the", "my", "our", "your", "final", "correct", "best", "right", "most", "appropriate", "likely", "only"),
    *("closest", "chosen", "selected", "revised", "updated", "corrected", "actual", "true", "new", "overall", "proper"),
    *("suitable", "accurate", "educated", "die", "der", "das", "la", "le", "el", "il", "a", "o", "het", "richtige"),
    *("korrekte", "bonne", "correcta", "corretta", "correta", "juiste", "rätt", "rette", "riktige", "prawidłowa"),
    *("poprawna", "doğru", "správná", "правильный", "правильна", "верный", "सही", "正确的?", "最终", "所以", "최종"),
)
_SUBJECT = rf"(?:{_FINAL}\s{{0,2}}){{0,4}}(?:{_ANSWER}(?:\s(?:choice|option|letter|key))?|{_THING})"
_PAIRED = (
    rf"(?:{_FINAL}\s{{0,2}}){{0,4}}{_ANSWER}(?:\s(?:choice|option|letter|key))?|(?:{_FINAL}\s{{0,2}}){{1,4}}{_THING}"
)
_NUMBERED = r"(?:(?:question|q|problem|item)\s?\d{1,4}\s?[:.)]\s?|\d{1,4}[.)]\s)"
_LONE = r"[(\['<]{0,4}[A-Z][)\]'>]{0,4}[.!]?\s{0,3}$"
_POINTER = r"(?:[-=]{0,2}[>→➜⇒]|[:=]|-(?!\w))"

LINE = re.compile(
    rf"[^\w\s]{{0,2}}\s?{_NUMBERED}?(?:(?:so|thus|therefore|hence)\b[\s,:]{{0,4}})?(?:{_SUBJECT}\s{{0,3}}(?:\b(?:is|are)\b)?\s{{0,3}}{_POINTER}"
    rf"|(?:{_PAIRED})(?:\s{{1,3}}(?=(?-i:{_LONE}))|\s{{0,2}}(?:是|为|は|은|는)\s?[::]?))",
    re.IGNORECASE,
)
"""The beginning of a line that declares the answer: "Answer:", "**Final answer** -", "答案是"."""
INLINE = re.compile(
    r"\bANSWER\s?:|\b[Ff]inal [Aa]nswer\s?:|\b[Aa]nswer:(?=\s?[(*]{0,3}[A-Z]\)?[\s,.*]{0,5}$)"
    r"|答案(?:是|为)?:?(?=\s?[A-Z])|[故应我]?(?:该)?选(?:择|项)?:?(?=\s?[A-Z])"
)
"""The same within a line."""
NUMBER = re.compile(r"(?:(?:question|q|problem|item)\s?)?\d{1,4}\s?[:.)]\s?(?=\W{0,2}[A-Z]\W{0,2}$)", re.IGNORECASE)
"""A question's number before nothing but a letter."""

# Leads: what stands right before a letter that is stated.

_ADVERBS = (
    r"(?:,?\s(?:clearly|definitely|indeed|therefore|thus|then|simply|obviously|certainly|surely|hence|actually|now"
    r"|in fact"
    r"|in my (?:view|opinion)|here|correcta?|corretta|correta|đúng|yang benar|to (?:this|the|your) question"
    r"|that (?:is |best )?(?:not )?(?:correct|true|right|false|fits|describes|fits best|describes this)"
    r"|(?:for|to) (?:this|the|your)? ?(?:question|problem)?(?: \d{1,3})?|among the (?:choices|options)|given),?){0,2}"
).replace(" ", r"\s")
_BE = _any(
    *("is", "are", "must be", "has to be", "should be", "would be", "will be", "becomes", "remains", "ist", "lautet"),
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
_OPTION = r"(?:(?:the\s)?(?:answer\s)?(?:option|choice|letter|answer)\s)?"
_CHOOSE = _any(
    *("choose", "chose", "chosen", "choosing", "pick(?:ed|ing)?", "select(?:ed|ing)?", "go(?:ing)? (?:with|for)"),
    *("went with", "settled? (?:on|for)", "votes?(?: for)?", "voting for", "say", "answer", "opt(?:ed)? for"),
    *("decided? (?:on|for)", "conclude", "guess", "mark", "stick with", "sticking with"),
)
_SPEAKER = r"(?:I|we)(?:'ll|'d|'m|'ve|\swill|\swould|\sam|\shave|\sshould|\smust|\shad\sto)?"
_OFTEN = r"(?:\s(?:therefore|thus|now|then|hereby|definitely|ultimately|finally|confidently|still))?"
_THINK = _any("think", "believe", "conclude", "feel", "(?:am|'m) (?:confident|sure|certain)", "would say", "'d say")

FREE = re.compile(
    rf"(?:\b(?:{_ANSWER}|{_THING}){_ADVERBS}(?:\s{_BE}{_ADVERBS}|'s)\s?[:,]?\s{{0,3}}|\b{_ANSWER}\s?[:=]\s?|{_ANSWER}(?:是|为|は|은|는)?\s?"
    rf"|(?:सही|doğru)\s{_ANSWER}\s"
    rf"|\b{_SPEAKER}{_OFTEN}\s{_CHOOSE}\s?:?\s{{0,3}}|\b{_SPEAKER}\s(?:\w{{1,12}}\s)?{_THINK}(?:\sthat)?:?\s"
    r"|\b(?:vote|pick)\sgoes\s(?:to|for)\s|\bchang\w{1,4}\s(?:my|the)\sanswer\s(?:from\s\W?[A-Z]\W?\s)?to\s"
    rf"|richtig\sist\s){_OPTION}[(\['<]{{0,3}}$",
    re.IGNORECASE,
)
"""A lead after which the letter counts whatever follows it, hedges apart."""
_LINK = _any(
    *("it is", "it's", "that is", "that's", "this is", "which is", "(?:it |that |this |which )?must be"),
    *("(?:it|that|this|which) (?:has to|should|would|will|can only) be", "gives(?: us)?", "yields", "matches"),
    *(
        "match(?:ing|es)? with",
        "correspond(?:s|ing)? to",
        "means",
        "indicates",
        "implies",
        "leav(?:es|ing)(?: us with| only)?",
    ),
    *("left with", "points? to", "equals", "aligns with", "supports", "i\\.e\\.,?", "namely,?", "(?<!so )is"),
    *("we (?:get|have|find|obtain)", "i get"),
)
_SO = _any(
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
        "without (?:a )?doubt",
        "no doubt",
        "undoubtedly",
        "tl;dr",
        "overall",
        "ultimately",
    ),
    *("based on (?:this|that|the above)", "in the end", "as a result", "finally", "by process of elimination", "∴"),
    *("→", "⇒", "=>", "->", "is it", "my (?:best )?guess"),
)
_CORRECTS = _any(
    *("actually", "wait", "wait,? no", "no,? wait", "no(?=[,:;.!-])", "correction", "i mean", "i meant", "or rather"),
    *("hmm", "sorry", "oops", "make (?:that|it)", "scratch that", "on second thoughts?", "on reflection"),
    *("(?:let me )?correct (?:myself|that)", "upon reflection", "on reconsideration", "i stand corrected", "rather"),
    *("edit", "changed my mind", "on closer (?:inspection|look)", "(?:up)?on (?:further )?review", "thinking again"),
)
BOUND = re.compile(
    rf"(?:(?:^|[^\w'])(?:{_LINK}{_ADVERBS}|(?<![\w'])(?:{_SO}|{_CORRECTS}))\s?[,:;.!-]{{0,3}}\s{{0,2}}"
    rf"|\bnot\s[(]?[A-Z][)]?,?\s(?:but\s(?:rather\s)?)?|^(?:choose|select|pick|go\swith|going\swith|let's\sgo\swith)\s{{1,2}}){_OPTION}[(\['<]{{0,3}}$",
    re.IGNORECASE,
)
"""A lead after which the letter counts if its clause ends there."""
ENDS = re.compile(
    r"['\])>]{0,3}(?:\s{0,2}(?:$|[.!;:](?!\w)|,\s(?!\w{1,12}\s(?:is|are)\b)|\()|\s(?:because|since|as\b|due|given|which|rather|not|for|-|→))",
    re.IGNORECASE,
)
NAMED_OPTION = re.compile(
    r"(?:,\s|\(|\bis\s|\bi\.e\.,?\s|\b(?:matches|matching|to|means|leaves|with|gives)\s)(?:the\s)?(?:answer\s)?(?:option|choice)\s[(\['<]{0,3}$",
    re.IGNORECASE,
)
"""Before a letter that ends its clause: "Paris, option C"."""

# Praise: what stands right after a letter that is stated.

_BEING = _any(
    *(
        "is",
        "was",
        "must be",
        "has to be",
        "should be",
        "would be",
        "will be",
        "seems(?: to be)?",
        "appears(?: to be)?",
    ),
    "remains",
)
PRAISE = re.compile(
    rf"['\])>]{{0,3}}(?:\s{_BEING}(?:\s(?:clearly|indeed|definitely|therefore|thus|the|my)){{0,2}}"
    r"\s(?:(?:only|most|single|clearly|more|final|best)\s){0,2}"
    r"(?:correct|right|best|better|final|answer|choice|pick|appropriate|suitable|accurate|precise|winner)\b"
    r"(?!\s(?:only|if|in|that|about|when|for|but|or)\b)(?!,?\sbut\b)(?!\s?\?)"
    r"|\sit\sis\b|\?\s?(?:yes|correct|right)\b|\s(?:fits(?:\sbest)?|matches|works|holds)\s?(?:[.!]|$))",
    re.IGNORECASE,
)
FITS = re.compile(r"['\])>]{0,3}\s(?:fits|matches|satisfies|best\s\w{3,12})\s(?!.{0,200}\bbut\b)", re.IGNORECASE)
"""After "option X": it fits, without a but."""
ALSO = re.compile(r"[^.!?]{0,60}?\b(?:too|as\swell|also|so\s(?:is|are))\b", re.IGNORECASE)
"""After praise that is not for one option alone."""
MADE = re.compile(r"\bmak(?:es|ing)\s(?:option\s|choice\s|answer\s)?[(\['<]{0,3}$", re.IGNORECASE)
MADE_RIGHT = re.compile(r"['\])>]{0,3}\s(?:the\s)?(?:only\s|most\s|single\s)?(?:correct|right|best)\b", re.IGNORECASE)
ONLY = re.compile(r"\bonly\s(?:option\s|choice\s|answer\s)?[(\['<]{0,3}$", re.IGNORECASE)
REMAINS = re.compile(
    r"['\])>]{0,3}\s(?:remains|fits|works|is\s(?:left|correct|right|true|possible)|satisf\w{1,4}|matches|makes\ssense|holds|meets|qualifies)\b",
    re.IGNORECASE,
)
# A bare letter is an option where a clause begins with it: "so B is the answer", not "vitamin B is the answer".
BEGINS = re.compile(
    r"(?:^|[.,:;!?-]|\b(?:so|therefore|thus|hence|that|then|think|believe|conclude|but|only|and|means|because|while|since))"
    r"\s{0,2}[(\['<]{0,3}$",
    re.IGNORECASE,
)
OPTION = re.compile(r"\b(?:option|choice|answer|statement)\s[(\['<]{0,3}$", re.IGNORECASE)
LINKED = re.compile(
    r"\b(?:or|and|nor|neither)\s(?:option\s|choice\s)?[(\['<]{0,3}$|[&/]\s?[(\['<]{0,3}$", re.IGNORECASE
)

# Doubts.

CONDITION = re.compile(
    r"\b(?:if(?!\s(?:i\s(?:had\sto|must)|forced|pressed|pushed))|whether|suppos\w{0,4}|assum\w{0,4}|unless|imagine|depend\w{0,3}|wenn|si|если|如果)\b",
    re.IGNORECASE,
)
DOUBT = re.compile(
    r"\b(?:not(?!\s(?:100%\s)?(?:sure|certain))|never|cannot|(?<!no\s)(?<!a\s)doubt|unlikely|wrong|incorrect|worst|least|maybe|perhaps|might|could|may|possibly|probably|neither|nor|nicht"
    r"|initially|at first"
    r"|first answer|originally|tempted|previously|не|nie|inte|不是|不|否|less|nobody|used to)\b|n't\b|不是|不选",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"\b(?:students?|users?|people|you|they|he|she|some|many|others?|someone|one|everyone|friend)\s(?:\w{1,10}\s){0,2}"
    r"(?:said|says?|thinks?|thought|believes?|claims?|chose|choose|suggests?|picks?|answers?|argues?)\b",
    re.IGNORECASE,
)
"""Somebody else's answer."""
CONCLUSION = re.compile(r"[.!?]|\b(?:so|therefore|thus|hence|but|because|however|though)\b", re.IGNORECASE)
CLAUSE = re.compile(r"[,;:]|\band\b|\s-\s", re.IGNORECASE)
CORRECTION = re.compile(
    r"(?:^|[\s.,;:!?(…-])(?:(?P<strong>(?:wait|hmm|oh|oops),?\sno\b|no,?\swait\b|scratch\sthat|correction\b|i\sstand\scorrected|i\smeant?\b"
    r"|(?:that|this|it)(?:'s|\sis|\swas)\s(?:wrong|incorrect|not\s(?:right|correct))|(?:made|make)\s(?:a|an)\s(?:mistake|error)"
    r"|i\s(?:was|am)\s(?:wrong|mistaken)|correct\s(?:myself|that)|apolog\w{1,4}|i\smisread|revised\sanswer|chang\w{1,4}\smy\sanswer"
    r"|no(?=\s?[,:;.!]\s))|(?P<weak>actually|wait|hold\son|hmm|oops|sorry|on\s(?:second\sthoughts?|reflection|reconsideration)"
    r"|upon\sreflection|edit:|update:|changed\smy\smind"
    r"|on\scloser\s(?:inspection|look)|upon\sfurther|thinking\sagain"
    r"|let\sme\s(?:reconsider|re-?check|double[- ]check)|make\s(?:that|it)|rather,))",
    re.IGNORECASE,
)
"""Words that take back what was said before them; weak ones only where another answer follows."""
