"""The words that keep a statement from being an answer: conditions, doubts, other people's answers, corrections."""

from __future__ import annotations

import re

CONDITION = re.compile(
    r"\b(?:if(?!\s(?:i\s(?:had\sto|must|were\s(?:you|a))|forced|pressed|pushed)\b)|whether|(?<!\bi\s)suppos\w{0,4}|assum(?!ing\b[^.;]{0,200},)\w{0,4}|unless|imagine|depend\w{0,3}|wenn|si|если|如果)\b|^\s?(?:had|were|should)\s|\blet(?:'s|\sus)\s(?:say|pretend)\b",
    re.IGNORECASE,
)
DOUBT = re.compile(
    r"\b(?:not(?!\s(?:(?:100%\s)?(?:sure|certain)|only)\b)|never|cannot|(?<!no\s)(?<!a\s)(?<!of\s)doubt|unlikely|wrong|incorrect|worst"
    r"|least|maybe|perhaps|might|could|may|possibly|neither|nor|nicht|no\sway|by\sno\smeans|hardly|far\sfrom|trap|decoy|distractor|naive"
    r"|(?:second|next)[\s-]best|runner-up|inconsistent|conflicts?|contradict(?:s|ed|ing)?|contrary|disagrees?|compar\w{1,3}"
    r"|instinct|intuition|impression|inclination|temptation|tempting|guess(?:ed)?\swas|tempted|не|nie|inte|不是|不|否|less"
    r"|nobody|used\sto|was\s(?:going|about)|nearly|almost(?!\scertain))\b|n't\b|不是|不选"
    r"|\b(?:nothing|little)(?:\s(?:here|else|in\s\w{1,9}\s\w{1,12}))?\s?$",
    re.IGNORECASE,
)
REPORTED = re.compile(
    r"\b(?:students?|classmates?|colleagues?|teachers?|experts?|models?|users?|people|you|they|he|she|some|many|others?|someone|(?<!\bfor\s)one|everyone|friends?"
    r"|professors?|lecturers?|tutors?|instructors?|doctors?|authors?|(?:text)?books?(?!\sanswer\b)|keys?|hints?|prompts?|(?:work)?sheets?|websites?|forums?|internet|candidates?"
    r"|folks|critics|brother|sister|mother|father|mom|dad|boss|guides?|annotators?|chatgpt|gpt|assistants?|partner|roommate|neighbou?r)\s(?!(?:should|must|need|want|ought|have)\b)(?:\w{1,10}\s){0,2}"
    r"(?:said|says?|thinks?|thought|believes?|claims?|chose|choose|chosen|suggests?|picks?|picked|answers?|answered|argues?|gives?|gave)\b"
    r"|\b(?!(?:i|we|who|that|which|always|never|not|also|first|initially|once|had|have|already|originally)\b)\w{1,15}(?:\s\d{1,2})?\s(?:insist(?:s|ed)|swears|swore|shout(?:s|ed)"
    r"|whisper(?:s|ed)|yell(?:s|ed)|cries|cried|vote[sd]|reckons|thinks|believes|bets|guesse[sd]|chooses|chose|picks|picked|opts|opted|argue[sd]|claim(?:s|ed)|maintains|contends)\b"
    r"|\b(?:lead|tak|bring|steer|tempt|lur|driv|push|send|mislead)(?:e|s|es|ing)?\s(?:them|him|her|people|students|many|some\w{0,3})\b",
    re.IGNORECASE,
)
"""Somebody else's answer: a person and what persons and books do, what only persons do, or what leads them there."""
CONCESSION = re.compile(
    r"(?:^|[,;:]\s)\W{0,2}(?:(?:even\s)?though|although|while|whereas|whilst|despite|granted)\b", re.IGNORECASE
)
"""Before what is granted to one option for the sake of another."""
EARLIER = re.compile(
    r"\b(?:initially|at\sfirst|originally|previously|previous"
    r"|first\s(?:answer|glance|thought|guess|instinct|impression))\b",
    re.IGNORECASE,
)
"""What was thought before, wherever it stands in the sentence."""
CONCLUSION = re.compile(
    r"[.!?]|;(?=\s(?:as\sit\sis|here|now|i\b|in\sthis))|\b(?:(?<!if\s)so|therefore|thus|hence|but|because|however|though)\b",
    re.IGNORECASE,
)
CLAUSE = re.compile(r"[,;:]|\band\b|\s-\s", re.IGNORECASE)
CORRECTION = re.compile(
    r"(?:^|(?<!\bif)(?<!\bunless)(?<!\bwhether)[\s.,;:!?(…-])(?:(?P<strong>(?:wait|hmm|oh|oops),?\sno\b|no,?\swait\b|scratch\sthat|correction\b|i\sstand\scorrected|i\smeant?\b"
    r"|(?:that|this|it)(?:'s|\sis|\swas)\s(?:wrong|incorrect|not\s(?:right|correct))|(?:made|make)\s(?:a|an)\s(?:mistake|error)"
    r"|i\s(?:was|am)\s(?:wrong|mistaken)(?!\s(?:with|about|on)\s\W?[A-Z]\b)|correct\s(?:myself|that)|apolog\w{1,4}|i\smisread|(?:revised|corrected|updated)\sanswer|chang\w{1,4}\smy\sanswer"
    r"|(?:actually|wait|hmm|no),?\s(?:but\s|now\s){0,2}i(?:'m|\sam)\s(?:not\s(?:\w{1,10}\s){0,2}(?:sure|certain)|unsure|uncertain)"
    r"|i\s(?:can't|cannot|can\snot|couldn't|could\snot)\s(?:really\s)?(?:decide|choose|tell|settle|pick|say)\s(?:between|which|on)\b"
    r"|(?:haven't|have\snot|don't\shave)\s(?:a|any|the)\s(?:clue|idea|foggiest)|no\slonger\s(?:sure|certain)|not\s(?:so\s)?(?:sure|certain)\sany\s?more"
    r"|who\sknows(?=\W{0,3}$)|beats\sme\b"
    r"|(?<!\?\s)no(?=\s?[,:;.!]\s))|(?P<weak>actually|wait|hold\son|hmm|oops|sorry|on\s(?:second\sthoughts?|reflection|reconsideration)"
    r"|upon\sreflection|edit:|update:|changed\smy\smind"
    r"|on\scloser\s(?:inspection|look)|upon\sfurther|thinking\sagain"
    r"|let\sme\s(?:reconsider|re-?check|double[- ]check)|make\s(?:that|it)|rather,))",
    re.IGNORECASE,
)
"""Words that take back what was said before them; weak ones only where another answer follows."""
MENDED = re.compile(
    r"(?<!\bif\s)\bI\s(?:dropped|forgot|missed|overlooked|neglected|swapped|mis\w{3,12}|made\s(?:a|an)\s(?:\w{3,12}\s)?(?:mistake|error|slip))\b"
    r"|\b(?:my\s(?:mistake|error)|oops|wait|actually|on\ssecond\sthoughts?|(?:redo|correct|revis|fix)(?:ed|ing|ion)"
    r"|re-?(?:comput|check|calculat|work|evaluat|consider)\w{1,5}|correct(?:ed)?\s(?:result|answer|value|choice|option))\b",
    re.IGNORECASE,
)
"""Words of correction between two boxed answers: the later one counts."""
REVISED = re.compile(rf"(?-i:(?<!\b[A-Z])(?<!\b[A-Z][:)(-])(?<!\b[A-Z]\s[-–—]))(?:{CORRECTION.pattern})", re.IGNORECASE)
"""A correction that is no verdict: not the "no" of "A: no"."""
