"""What stands right after a letter that is stated: words that call it the right one, or the best."""

from __future__ import annotations

import re

from swaplaw.answers.replies.phrases import any_of

_BEING = any_of(
    *("is", "was", "must be", "has to be", "should be", "would be", "will be", "remains"),
    *(
        "seems(?: to be)?",
        "appears(?: to be)?",
        "looks(?: to be)?",
        "turns out to be",
        "sounds",
        "feels",
        "comes(?: out)?",
        "(?:has been|is) (?:declared|named|crowned|pronounced)",
    ),
)
SUPERLATIVE = (
    r"(?:(?!least|worst|weakest|lowest|poorest|farthest|furthest|honest|modest|forest|interest|latest)\w{3,12}est|best)"
)
_GOOD = any_of(
    SUPERLATIVE,
    *(
        "correct",
        "right",
        "best",
        "better",
        "final",
        "answer",
        "choice",
        "pick",
        "response",
        "selection",
        "vote",
        "appropriate",
        "suitable",
        "accurate",
    ),
    *(
        "precise",
        "winner",
        "exception",
        "odd one out",
        "(?<=more )(?:likely|plausible|accurate|precise|complete|convincing|specific|reasonable)|safer",
        "(?<=most )(?:plausible|reasonable|logical|sensible|convincing)",
    ),
)
PRAISE = re.compile(
    rf"['\])>]{{0,3}}(?:\s{_BEING}(?:\s(?:clearly|indeed|definitely|therefore|thus|really|actually|fully|also|equally|likewise|probably|likely|most\slikely|presumably|the|my)){{0,2}}"
    rf"\s(?:(?:only|most|single|clearly|more|final|best|better|likely|probable)\s){{0,2}}{_GOOD}\b"
    r"(?!\s(?:only|if|in|that|about|when|for|but|or)\b)(?!,?\sbut\b)(?!\s?\?)"
    r"|\s(?:is|was)\s(?:(?:therefore|thus|hence|clearly)\s)?the\sonly\s(?!\w{0,12}\s?(?:wrong|incorrect|false|untrue|problem|mistake|doubt|question)\b)\w{3,14}\b"
    r"|\s(?:must|has\sto|can\sonly)\sbe\s(?:true|it|the\sone)\b|\sremains\s?(?:[.!]|$)"
    r"|\sit\s(?:is|must\sbe|has\sto\sbe)(?=\s?(?:[^\w\s]|$|(?:then|for|again|by|because|since|indeed|and|so)\b))|\sis\sin\s?(?:[.!;]|$)|\s(?:combines|passes|satisfies|meets|covers)\s(?:both|all|every|each|them)\b|(?:是|为)?正确|이\s?정답|が正"
    r"|\s(?:es|est|ist|è|é)\s(?:la|die|l'|a)\s?(?:única|seule|einzige|unica)\b|\?\s?(?:yes|correct|right)\b|\s(?:fits(?:\sbest)?|matches|works|holds|stands|survives)\s?(?:[.!]|$)"
    r"|:\s?(?:correct|right|yes)\b|\sis\swhat\si\b|\sis\sthe\sone\s(?:that|which|whose|we|I)\s(?![^.;]{0,30}(?:n\'t\b|\b(?:not|never|wrong|false|incorrect|fail\w{0,3}|lacks?|contradict\w{0,3}|violat\w{1,3}|people|students?|many|most|least)\b))|\sis\sthe\sone\s?(?:[.!]|$)|\sis\sthe\s(?:one|option|answer)\sto\s(?:pick|choose|select|mark|circle|go\s(?:with|for))\b|\s(?:wins|prevails)\b|\sbeats\s|\sdie\s(?:richtige|korrekte|beste)\b"
    rf"|\s\w{{3,12}}s\s(?:[\w']{{1,12}}\s){{0,4}}(?:most(?:\sclosely|\saccurately|\sfully|\sdirectly|\sprecisely)?|(?<!at\s)best|better|exactly|correctly|perfectly)\s?(?:[.!]|$)"
    r"|\s(?:is|was)\s(?:\w{2,12}ly\s|best\s)?supported\b|\s(?:correctly|accurately|precisely|properly|rightly|best)\s\w{3,14}s\b|\sbetter\s\w{2,13}[^\W\ds]s\b"
    r"|\s(?:is|was)\s(?:the\s)?most\s(?!difficult|tempting|confusing|problematic|common|obvious(?:ly)?\s(?:wrong|false))\w{4,14}\s?(?:[.!,]|$|than|of|to)|\sis\sthe\sway\sto\sgo|\sgets\smy\svote|\sis\swhere\si\b"
    r"|\s(?:gets|has|got)\s(?:it|this|that|everything|both)\s(?:\w{1,8}\s)?right\b|\snails\sit\b|\sdoes\sthe\strick\b|\sticks\s(?:all|every)\b|\shits\sthe\s(?:nail|mark|spot)\b|\sis\s(?:spot|bang|dead)\son\b|\sfits\sthe\sbill\b|\stakes\sthe\s(?:cake|prize|crown|day|win|point|trophy)\b|\schecks\sout\b|\safter\sall\b"
    r"|\s(?:says|states)\s(?:so|exactly|precisely|just)\b|\sis\s(?:it|what\s(?:we|the\squestion|is))\b"
    r"|\smakes\s(?:the\s)?(?:most\s|more\s)?sense\b|\s(?:(?:est|es|ist|è|é)\s(?:la\s|die\s|der\s)?)?"
    r"(?:richtig|korrekt|correcte|correcta|corretta|correta|juste)\b)",
    re.IGNORECASE,
)
_PLAIN = (
    r"(?:(?!(?:not|never|no|would|could|might|may|can|cannot|if|was|were|less|than|about|wrong|incorrect|half|part\w{0,5}|nearly|almost"
    r"|close|students?|people|many|some|whether|why|what|how|and|or|but|because|when|for|to\smake|far|hardly|one\sof|neither|nor|also|second|next)\b|\w{0,8}n't)[\w-]{1,14}\s)"
)
GLOWING = re.compile(
    rf"['\])>]{{0,3}}\s{_PLAIN}{{1,7}}?(?:correct|right|best|strongest|better|stronger|safest|safer|closest|most\s(?!people|students)\w{{4,14}})\s"
    r"(?:answer|choice|option|fit|one|match|pick|candidate|response|alternative|explanation|description|statement|conclusion)\b(?!\s(?:if|only|when|for|in)\b)(?!\s?\?)",
    re.IGNORECASE,
)
"""After a letter, a verb and some words, the best there is: "stands out as the correct one"."""
FITS = re.compile(
    r"['\])>]{0,3}\s(?:fits|matches|satisfies|(?:most\s(?:closely|accurately)|best)\s\w{3,12})\s(?![(\[]?[A-Z]\b)(?!.{0,200}\bbut\b)",
    re.IGNORECASE,
)
"""After an option: it fits, without a but."""
ALSO = re.compile(
    r"[^.!?]{0,60}?\b(?:too|as\swell|also|so\s(?:is|are))\b|[^.!?]{0,60}[.!;]\sSo\s(?:is|are)\s[(\[]?[A-Z]\b",
    re.IGNORECASE,
)
"""After praise that is not for one option alone."""
AS_WELL = re.compile(
    r"['\])>]{0,3}\s(?:(?:are|sont|est|sind|ist|son|es|sono|è|são|é|estão|está)\s)?"
    r"(?:also|equally|aussi|également|auch|ebenfalls|también|anche|também|тоже|также)\s"
    r"(?:correct\w{0,3}|right|true|valid|richtig|korrekt|justes?|corrett[aeio]|corret[ao]s?|вер(?:ен|на|ны)|правил\w{2,5})\b"
    r"(?![^.;]{0,40}\b(?:but|mais|aber|pero|ma|mas|но)\b)",
    re.IGNORECASE,
)
"""After options that are right beside another, in any language: "sont aussi correctes"."""
MADE_RIGHT = re.compile(
    r"['\])>]{0,3}\s(?:the\s)?(?:only\s|most\s|single\s|clear\s|obvious\s){0,2}(?:correct|right|best|better|answer|choice|\w{3,12}est|winner|option|pick|one"
    r"|(?<=most\s)\w{4,14})\b",
    re.IGNORECASE,
)
ONLY = re.compile(r"\bonly\s(?:option\s|choice\s|answer\s|statement\s|response\s)?[(\['<]{0,3}$", re.IGNORECASE)
SAYS_SO = re.compile(
    r"(?:\b(?:what|just\sas|exactly\sas|precisely\sas|,\sas)\s)(?:is\s(?:said|stated|described)\sin\s)?(?:option\s|choice\s|answer\s|statement\s)?[(\['<]{0,3}$",
    re.IGNORECASE,
)
"""Before a letter whose text says what was found: "that is what D says", ", as choice B states"."""
SAYS = re.compile(
    r"['\])>]{0,3}\s(?:says|states|describes|claims|expresses|asserts|gives|proposes|suggests)\b", re.IGNORECASE
)
REMAINS = re.compile(
    r"['\])>]{0,3}\s(?:remains|fits|works|(?:is|was|has|does|are)\s(?!(?:\w{2,12}\s)?(?:not|wrong|incorrect|false|out|eliminated|impossible|mistaken|excluded)\b)|satisf\w{1,4}|matches|makes\ssense|holds|meets|qualifies|can\sbe|follows|(?!(?:fails|lacks|misses|ignores|contradicts|violates|is|was|has|does)\b)\w{3,12}s)\b",
    re.IGNORECASE,
)
