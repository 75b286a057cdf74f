"""The words by which a clause takes a stance on the options that it names: the vocabulary of `stances`."""

from __future__ import annotations

import re

from swaplaw.answers.replies.phrases import any_of
from swaplaw.answers.replies.praise import SUPERLATIVE

BREAK = re.compile(
    r"[;:]\s|,\s|(?<![A-Z][a-z])[.!?]{1,3}\s|\s-{1,2}\s|\s→\s|(?<=[(\[])(?=[a-z])|\b(?P<word>but|so|because|while|whereas|although|though|since|therefore|thus|hence"
    r"|however|yet|and|as|which|whilst|where|porque|weil|denn|car|parce\sque|perché|sondern|sino|mas|ma|mais|aber)\b",
    re.IGNORECASE,
)
CONCLUDES = re.compile(r"so|therefore|thus|hence|sondern|sino", re.IGNORECASE)
EXPLAINS = re.compile(r"because|since|as|where|porque|weil|denn|car|parce\sque|perché", re.IGNORECASE)
CONCEDES = re.compile(r"while|whereas|although|though|whilst", re.IGNORECASE)
TURNS = re.compile(r"but|yet|however|sondern|sino|aber|mais", re.IGNORECASE)
_CALLED = any_of(
    *("option", "choice", "answer", "letter", "alternative", "response", "opción", "opção", "opzione", "antwort"),
    *(
        "réponse",
        "respuesta",
        "risposta",
        "resposta",
        "alternativa",
        "вариант",
        "ответ",
        "item",
        "number",
        "row",
        "door",
    ),
    *("variant", "entry", "proposition", "box", "bubble", "circle", "button"),
)
OPENS = re.compile(rf"\(?(?:\b(?:the\s)?{_CALLED}\s)?[#(\['<]{{0,3}}$", re.IGNORECASE)
LINK = re.compile(
    rf"['\])>]{{0,3}}(?:\s\([^()]{{1,60}}\))?\s?(?:,|/|&|\+|(?:,\s)?(?:and|or|nor|vs\.?|versus|to|through|y|o|et|ou|und|oder|(?-i:и|или|e|i|ve|veya|oraz|lub|och|eller|en|og|dan|và))\b|[和与或及])\s?(?:{_CALLED}\s)?[(\['<]{{0,3}}",
    re.IGNORECASE,
)
COMMA = re.compile(r"['\])>]{0,3},\s?[(\['<]{0,3}")
ASIDE = re.compile(
    r"['\])>]{0,3}(?:\s\([^()]{1,80}\)|,\s(?!(?:not|but|and|so|it|which|because)\b)[^,;:.]{1,50},(?=\s))"
)
_CLOSES = re.compile(r"['\])>]{0,3}")
ARTICLE = re.compile(
    r"\s(?!(?:because|since|as|is|was|are|and|or|not|but|then|has|does|can|would|in|on|it|here|with|all|by)\b)"
    r"(?!\w{2,11}[b-hj-rtv-z]s\s(?:the|a|an|all|both|every|each|how|what|only|exactly|its|it)\b)[a-z]+\s[a-z]"
)

AGAINST = re.compile(
    r"\b(?:not|never|no|cannot|neither|nor|none|wrong|incorrect\w*|false|untrue|mistak\w{1,4}|invalid|fail\w{0,3}|omit\w{0,4}"
    r"|lack\w{0,3}|ignor\w{1,3}|miss\w{0,3}|confus\w{1,4}|contradict\w{0,3}|conflict\w{0,3}|violat\w{1,3}|overlook\w{0,3}|forget\w{0,4}"
    r"|neglect\w{0,3}|revers\w{1,3}|mix\w{0,3}|exaggerat\w{1,3}|overstat\w{1,3}|understat\w{1,3}|mis(?:represent|state|identif|quot|appl)\w{0,4}"
    r"|eliminat\w{0,3}|exclud\w{1,3}|reject\w{0,3}|ruled|discard\w{0,3}|dismiss\w{0,3}|irrelevant|unrelated|impossible|implausible|unlikely"
    r"|outdated|obsolete|misconception|myth|tempt\w{0,4}|trap|distractors?|decoy|too|only|merely|rather|instead|would|could"
    r"|opposite|converse|unsupported|inconsistent|negligible|insufficient|incomplete|partial\w{0,2}|half|less|weak\w{0,3}|worse|worst"
    r"|elsewhere|errors?|assumes?|unless|over(?:general|simplif|reach|broad)\w{0,7}|off[\s-](?:topic|base|point|by)|beyond|red\sherring|absurd|nonsens\w{1,4}|extreme|broad|narrow|vague|different|another|nicht|kein\w{0,2}|falsch|pas|fausses?|hors|incorrect[ao]s?|fals[ao]s?|não|errad[ao]s?|sbagliat[aeio]|erróne[ao]s?|не|неверн\w{1,2}|неправильн\w{1,3}|ошибочн\w{1,3}|nie|błędn\w{1,2}|yanlış\w{0,5}|değil\w{0,5}|niet|inte|ikke|fout|fel)\b"
    r"|n't\b|[✗✘❌✖×]|\bout\b(?!\sas)|[不错誤误]",
    re.IGNORECASE,
)
"""After an option: what is wrong with it."""
OPPOSED = re.compile(
    r"\b(?:not(?!\sonly\b)|never|no|cannot|neither|nor|rather\sthan|instead\sof|as\sopposed\sto|than|over|unlike|versus|vs|eliminat\w{0,3}|rul\w{1,3}\sout"
    r"|reject\w{0,3}|exclud\w{1,3}|discard\w{0,3}|dismiss\w{0,3}|against|contrary\sto|wrong|incorrect|mistak\w{1,4}|confus\w{1,4}|without"
    r"|(?:cross|str[iu][kc]k?)\w{0,3}\s(?:out|off)|much\sfor|beyond|doubt|nobody|no\sone|anything\sbut|nothing(?!\s(?:but|other|else|beats?|wrong|against)\b)|nicht|kein\w{0,2}|pas|não|non)\b|n't\b",
    re.IGNORECASE,
)
"""Before an option: it is not the one."""
IDLE = re.compile(
    r"\b(?:can|consider\w{0,3}|examin\w{1,3}|check\w{0,3}|evaluat\w{1,3}|test\w{0,3}|compar\w{1,3}|look\w{0,3}\sat|turn\w{0,3}"
    r"|about|between|let(?!'s\sgo|\sme\sgo|'s\spick)|start\w{0,3}|tempt\w{0,4}|avoid\w{0,3}|except|all|any|each|every|both|was|were|had|first|next|second|like"
    r"|almost|nearly|close|common|your|key|students?(?!\sshould)|people|some|many|others?|discuss\w{0,3}|explain\w{0,3}|why|how|what|less"
    r"|least|worst|arg\w{2,4}|suggested|intuition|instinct|impression|inclination|runner-up|near|used|wants?\sto\ssay|remaining\s\d{1,3}%)(?!\w)|(?<!\bI\s)(?<!\bwe\s)\bwould\s(?:say|choose|pick|go|answer|argue)\b",
    re.IGNORECASE,
)
"""Before an option: it is spoken of, not chosen."""
MAYBE = re.compile(
    r"\b(?:could|might|may|maybe|perhaps|possibly|also|alternatively|or(?!\srather)|otherwise|else|too)\b",
    re.IGNORECASE,
)
"""Before an option: it is a second candidate."""
TOO = re.compile(r"\W{0,3}(?:is|are|does)\W{0,3}", re.IGNORECASE)
"""After "so" or "as" and before an option: it is no better than another."""
OTHERWISE = re.compile(r"\b(?:otherwise|alternatively)\b|\b(?:any|all|every)\w{0,5}\sbut\W{0,3}$", re.IGNORECASE)
_CHOOSES = any_of(
    *(
        "choos(?:e|ing)",
        "chose",
        "pick(?:ed|ing)?",
        "select(?:ed|ing)?",
        "mark(?:ing)?",
        "label",
        "lean(?:ing)?(?: toward)?s?",
    ),
    *(
        "favou?r(?:s|ing)?",
        "vot(?:e|ing)",
        "settl(?:e|ing|ed)",
        "go(?:ing|es)?",
        "went",
        "stick(?:ing)?",
        "stay(?:ing)?",
        "opt(?:ing)?",
    ),
    *(
        "say",
        "(?<='d |ll )take",
        "put(?:ting)?",
        "circl(?:e|ed|ing)",
        "tick(?:ed|ing)?",
        "fill(?:ed|ing)? in",
        "enter",
        "submit",
        "commit(?:ting)?",
        "stand by",
        "keep",
        "bet",
        "wager",
    ),
    *(
        "conclud(?:e|es|ing)",
        "point(?:s|ing)?(?= \\w)",
        "leads?(?= \\w)",
        "indicat(?:es|ing)",
        "match(?:es|ing)?",
        "correspond(?:s|ing)?",
        "fits?",
    ),
    *(
        "leav(?:es|ing)",
        "prefer",
        "support(?:s|ing)?",
        "suggests?",
        "gives",
        "yields",
        "means",
        "confirms?",
        "answer",
        "guess",
    ),
    *(
        "meant?",
        "looking for",
        "labelled",
        "labeled",
        "listed",
        "captured",
        "described",
        "agrees?",
        "consistent",
        "edges?",
        "wins?",
        "get",
        "says",
        "declares",
        "tells? (?:me|us)",
        "(?:propos|offer|recommend|nominat|submit)(?:e|ing|t?ing|s)?",
    ),
)
_BE = any_of(
    *(
        "(?:it|that|this|which|there|he|she)(?:'s| is)",
        "is",
        "are",
        "must be",
        "has to be",
        "have to be",
        "should be",
        "would be",
    ),
    *("will be", "can only be", "it'?ll be", "it'?d be", "its", "es", "est", "ist", "è", "é(?: a)?"),
)
_ANSWERS = any_of(
    *(
        "answers?",
        "choice",
        "option",
        "pick",
        "selection",
        "guess",
        "verdict",
        "decision",
        "bet",
        "vote",
        "money",
        "solution",
        "result",
    ),
    *("conclusion", "respuesta", "réponse", "antwort", "risposta", "resposta"),
)
_SMALL = any_of(
    *(
        "with",
        "for",
        "to",
        "on",
        "as",
        "it",
        "this",
        "that",
        "by",
        "in",
        "at",
        "towards?",
        "under",
        "best",
        "well",
        "down",
        "me",
        "us",
    ),
    *(
        "only",
        "still",
        "then",
        "now",
        "just",
        "the",
        "la",
        "die",
        "here",
        "is",
        "be",
        r"\w{2,12}ly",
        "indeed",
        "what",
        "firm",
        "answer",
    ),
)
"""What may stand between a word of choosing and the letter: a noun there would be what the letter names."""
_WORDS = rf"(?:\s{_SMALL}){{0,4}}"
TAKES = re.compile(
    rf"(?:\b{_CHOOSES}{_WORDS}|(?:^|\W){_BE}(?:\s(?:still|then|now|indeed|just|only|the|la|die|\w{{2,12}}ly)){{0,3}}"
    rf"|\b{_ANSWERS}(?:\s[\w']{{1,14}}){{0,5}}\s(?:{_BE}|on|to|for|as){_WORDS}|\b(?:only|just|still))\s?$",
    re.IGNORECASE,
)
"""Before an option, in its clause: a verb or a noun of choosing, or the bare copula."""
DECIDES = re.compile(
    rf"\b(?:I|I'd|I'll|I'm|I've|we|we'll|my|our|let's|final\w{{0,2}}|overall|{_ANSWERS})\b|\bin\s(?:the\send|conclusion|short|sum)",
    re.IGNORECASE,
)
SUBJECT = re.compile(
    r"(?:\W{0,3}(?:only|still|yes|ok(?:ay)?|now|here|that|indeed|overall|statement|sentence|both|the|most|very|quite|by\selimination|guessing|just|like"
    r"|in\smy\s(?:opinion|view|judge?ment|book)|(?:for|to)\sme|without\s(?:a\s)?(?:question|doubt)|hands\sdown|\w{2,12}ly|(?:I|we)(?:'d|\swould)?\s(?:think|believe|say|guess|feel)|(?:it|this|that)\s\w{3,8}s\sthat)){0,2}\W{0,3}$",
    re.IGNORECASE,
)
"""Before an option that is the subject of its clause."""
ENDS = re.compile(
    r"'?d[iıuü]r\b|\W{0,3}(?:$|\b(?:here|all|for\sme|to\sme|by\sfar|on\s\w{1,12}(?:\s\w{1,12})?|entscheiden|wählen|nehmen|sagen|ş\w{2,9}|in\s(?:the|your|this)\s\w{1,12}|\w{2,12}ly|it\sis|of\scourse|i\sthink|after\sall|by\s\w{1,14}|best|again|anyway)\b)",
    re.IGNORECASE,
)
FITS = re.compile(
    r"\s(?:\w{2,12}ly\s)?(?:captures|explains|satisfies|accounts\sfor|holds|works|edges|wins|passes|stands|is\sstanding|matches|fits|meets|is\swhat"
    r"|has\s(?:the\s)?(?:correct|right|proper)|is\s(?:\w{2,12}ly\s|well\s|best\s)?(?:supported|consistent|accurate|apt|sound))\b(?!\s[(\[]?[A-Z]\b)"
    rf"|\s(?:\w{{2,14}}\s[^,;.:]{{0,40}}\b)?(?:{SUPERLATIVE}|most\s\w{{2,14}}ly)\b|\s(?:is|does)\s?[.!;]{{1,3}}$",
    re.IGNORECASE,
)
STANDS = re.compile(r"\s(?:is|are|does|has|do|edges|captures|\w{3,14}s)\b", re.IGNORECASE)
RIGHT = re.compile(
    r"['\])>]{0,3}(?:\s(?:it\sis(?!\s(?:a|an|the|not|too|\w{3,12})\b)|then)\b|\s(?:is|was)?\s?[(:]?(?:true|right|correct|✓|✔|✅|☑|yes)\b|\s?[(:]?\s?[✓✔✅☑])",
    re.IGNORECASE,
)
UNDECIDED = re.compile(
    r"\b(?:can(?:no|')t\s(?:\w{1,10}\s)?(?:decide|choose|tell|say|determine|settle|pick)|either|neither|not\ssure|unsure|toss-?up|coin|equally|ambiguous"
    r"|both|depends|none\sof|all\sof\s(?:them|these)|more\s(?:information|context|data))\b",
    re.IGNORECASE,
)
EVEN = re.compile(r"\b(?:equally|either|ambiguous|depends|just\sas)\b", re.IGNORECASE)
NO = re.compile(r"\W{0,3}(?:no|nope|nah|wrong|bzz+t)\b", re.IGNORECASE)
YES = re.compile(r"\W{0,3}(?:yes|yep|yeah|right|correct|exactly|indeed|bingo|ding|true)\b", re.IGNORECASE)
"""After a question: what was asked is so; `NO` says that it is not."""
ODD_ONE = re.compile(
    r"\b(?:which|asks?|asked|asking|need|find|wants?|looking|identify|question|choose|select|spot)\b[^.!\n]{0,80}?"
    r"\b(?:not|false|incorrect|untrue|except(?:ion)?|isn't|odd)\b|\bthe\s(?:false|untrue|incorrect|odd)\s(?:one|statement)\b",
    re.IGNORECASE,
)
"""The question asks for the option of which something does not hold."""
TAG_QUESTION = re.compile(
    r",\s(?:right|isn't\sit|wouldn't\sit|no|doesn't\sit|correct|ok(?:ay)?)\?\W{0,2}$", re.IGNORECASE
)
MAKES = re.compile(r"\b(?:mak(?:es|ing)|leaves|leaving)\s$", re.IGNORECASE)
LIKELY = re.compile(r"\b(?:possible|plausible|likely|probable|as\swell|also|too)\b", re.IGNORECASE)
OPTION_I = re.compile(r"['\])>]{0,3}(?:[.!:;)\]]|\s(?:is|was|has|wins)\b|\s{0,3}$)")
"""After the letter I where it is an option: nobody says "I is"."""
BEFORE_I = re.compile(r"\w\W{1,4}(?<!\bstatement )(?<!\bstatements )(?<!\bphase )(?<!\btype )$", re.IGNORECASE)
ITEM = re.compile(r"(?:[^\w\s]\s)?(?:\w{2,12}\s)?[(\[]?[A-Z](?:[).:\]]{1,2}\s{0,2}\w|\s(?:yes|no)\b)", re.IGNORECASE)
SPOKEN_OF = re.compile(r"\b(?:similarly|likewise|now|statement|sentence|that|both|the)\b", re.IGNORECASE)
COLLECTIVE = re.compile(
    r"\b(?:all|none|both|neither)\sof\s(?:the\s(?:above|options|choices|others)|these|them)\s?$"
    r"|^(?:not\s(?:enough|given|stated)|(?:it\s)?cannot\sbe\sdetermined|insufficient|no\s(?:change|error|effect|difference))[\w\s]{0,30}$",
    re.IGNORECASE,
)
POINT = re.compile(r"[)\]]\s(?:it|they|he|she|we|you|there|this|that|its|their)\s\w")
"""After a small letter in brackets that numbers a reason: "(a) it is slow, and (b) it costs much"."""
BUT = re.compile(r"\b(?:but|yet|though|although|however|except)\b", re.IGNORECASE)
IS_WHAT = re.compile(r"\bwhat\s$", re.IGNORECASE)
OWN = re.compile(
    r"\b(?:I|we)(?:'m|'d|'ll|\sam|\sare|\swill|\swould|\smust)?\s(?!was|were|had|did|thought|said|mean|got|took|gave|saw|see|misread|have|need|know)(?:\w{2,12}ly\s)?"
    r"\w{2,12}(?<!ed)(?:(?:\s\w{1,8}){0,6}\s(?:to|for|on|in|at|with|by|of|behind|as|it|this|towards?|down))?\s$",
    re.IGNORECASE,
)
_NAMED_AS = (
    r"(?:(?:option|choice|answer|letter|alternative|opción|opção|opzione|seçenek|cevap|antwort|réponse|вариант"
    r"|odpowiedź)\s)"
)
PLACED = re.compile(
    r"(?:[\w,:;)]\s(?:to|for|in|on|at|by|with|as|under|towards?)"
    r"|(?:^|[\s,:;(-])(?:is|be|it's|that's|so|say|thus|hence|therefore|like|just|only|makes?|making|go|going|leaves|leaving"
    r"|choos\w{1,3}|chose|pick\w{0,3}|select\w{0,3}|mark|circle|tick|want|gets?|gives?|favou?rs?|suggests?|supports?"
    r"|lean(?:ing)?|guess(?:ing)?|put|wager|suspect|fits|matches|\w{3,12}ly|seems?|looks?|für|para|per|pour|la|le|die))"
    rf"[,:]?\s(?:the\s)?{_NAMED_AS}?[#(\['<]{{0,3}}$|\b{_NAMED_AS}[#(\['<]{{0,3}}$|(?:^|[:;,]\s|\s-\s)[#(\['<]{{0,3}}$",
    re.IGNORECASE,
)
"""Before a letter in the place of an option: after a verb or a preposition, or as a clause of its own."""
WEIGHED = re.compile(
    r"\b(?:(?:consider|examin|check|evaluat|test|eliminat|reject|exclud|discard|compar|start|turn|regard|avoid|skip|cross"
    r"|remov|leav(?=e\b)|contradict|explain|discuss|confus|mistak|miss|look|see|mis|rul|know|justif|reconsider|strik|dismiss"
    r"|dislik|refut|disprov|mov|begin|add|refer|belong|relat|convert|attract|transfer|thank|need|oppos|denot|label|call|nam"
    r"|mark(?=ed))\w{0,5}|about|against|let(?!\sme\sgo)|options|choices|answers|unlike|than|versus|why|what|how|which\sof|or"
    r"|and|between|both|was|were|had|next|first|second|back|otherwise|yours|none|nothing|same|neither|nor|no|any|all"
    r"|each|every|close|similar|equal|equivalent|proportional|relative|parallel|perpendicular|according|key|dear|grade"
    r"|except|without|unclear|ambiguous|please)\b|^as\sin\b|[∈=<>+?]",
    re.IGNORECASE,
)
"""Words of a sentence that names an option without choosing it."""
SOMEBODY = re.compile(
    r"\b(?:somebody|someone|anybody|one|sceptics?|skeptics?|critics?|opponents?|audience|crowd|contestants?|opposition|economists?|friend|purists?|readers?)\s(?:\w{1,12}\s){1,4}$",
    re.IGNORECASE,
)
ALL_RIGHT = re.compile(
    r"\s?are\s(?:\w{3,12}\s){0,2}(?:correct|right|true|valid|acceptable|possible|fine)\b", re.IGNORECASE
)
POSSESSIVE = re.compile(r"\b(?:your|my|our)\s", re.IGNORECASE)
VERDICT = re.compile(
    r"['\])>]{0,3}\s?[:(-]\s?(?:(?P<good>correct|right|true|yes|supported|[✓✔✅☑])|(?P<bad>incorrect|wrong|false|no|not"
    r"|unsupported|contradicted|irrelevant|unrelated|impossible|implausible|unlikely|eliminated|(?:plausible|possible|tempting|true)\sbut|[✗✘❌✖×]))(?!\w)",
    re.IGNORECASE,
)
OWN_TEXT = re.compile(r"\s?(?:True|False|Yes|No)\W{0,3}")
ALSO = re.compile(r"\balso\s$", re.IGNORECASE)
RIGHTLY = re.compile(r"\b(?:answer|correct|right|true|possible|valid)\b", re.IGNORECASE)
VERB = re.compile(r"(?:'ll|'d|\b(?:I|we|would|will|to))\s$", re.IGNORECASE)
NOT = re.compile(
    r"\b(?:second|not|never|only\sif|unless|neither|none|nothing|wrong|incorrect|false)\b|n't\b", re.IGNORECASE
)
OPERATOR = re.compile(r"\s?(?:[=<>⊂⊆∈+×/^~]|\*|→|->)")
OPERATED = re.compile(r"(?:[=<>⊂⊆∈+×/^~]|[A-Z]\s?→)\s?$")
PROVIDED = re.compile(r"['\])>]{0,3}[\s,(-]{1,4}(?:unless|only\sif|provided|as\slong\sas)\b", re.IGNORECASE)
"""After an option that is the answer on a condition."""
PREFACE = re.compile(
    r"\W{0,3}(?:next|first\w{0,2}|second\w{0,2}|then|now|dear|yours|sincerely|regards|for|with|in|at|take|also|likewise|similarly|finally)\b",
    re.IGNORECASE,
)
"""Before a comma and an option that is only spoken of: "First, B."."""
