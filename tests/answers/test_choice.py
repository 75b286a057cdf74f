"""Answer extraction: a table of what models really write, and laws that hold for any text."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swaplaw.answers import choice
from swaplaw.answers.choice import declared, read_choice
from swaplaw.answers.thinking import spoken

from support.data import DATA

SAYS_B = [
    r"First pass: \boxed{A}. But I dropped a sign. Correct result: \boxed{B}.",
    "La bonne réponse est B. Les options A, C et D ne conviennent pas.",
    "Die richtige Antwort ist B. Die Optionen A, C und D treffen nicht zu.",
    "La respuesta correcta es B. Las opciones A, C y D son incorrectas.",
    "Prawidłowa odpowiedź to B. Odpowiedzi A, C i D są błędne.",
    "Doğru cevap B seçeneğidir. A, C ve D şıkları yanlıştır.",
    "정답은 B입니다. A는 틀렸습니다.",
    "正解はBです。Aは単位が違います。",
    "A、C、D三项均不符合题意，故选B。",
    "Верный вариант — B.",
    "Final answer: B\n\nWhy the others are wrong:\n- A: true of some cells\n- D: right",
    "All of these fail. Not A, not C, not D. B.",
    "The answer is A. No, the answer is B.",
    "ANSWER: C\nActually, the answer is B.",
    "ANSWER: C. Actually, the answer is B.",
    "**A** is wrong, **B** is right",
    "ANSWER: I think B",
    "ANSWER: B and only B",
    "ANSWER: \u0412",  # A Cyrillic letter that looks like B.
    "The answer is probably B.",
    "b",
    "option b",
    "ANSWER: “B”",
    "Ans: B",
    "The answer has to be B.",
    "Q: how far?\nAns. B",
    "ANSWER: B\u200b",
    "\ufeffANSWER:\u00a0B",
    "The answer is B rather than A or C. Because it is.",
    "The answer is B, as opposed to A or C.",
    "The answer is B since A and C are wrong.",
    "ANSWER: B not A",
    "정답: B",
    "[Reasoning]\nIt is so.\n[Answer]\nB",
    "A is wrong and the answer is B.",
    "It is not A and the answer is B.",
    "Vitamin C is the best choice for that.\nSo B is the answer.",
    "**A key point:** it is cold.\n\n**B**",
    "<reason>A is wrong</reason><answer>B</answer>",
    "ANSWER: B) A and C",
    "ANSWER: B. A and C only",
    "ANSWER: B) Both A and C.",
    "The answer is B) A or C.",
    "The correct answer is:\n\nB. 300 m",
    "The correct option is:\n\nB) 300 m",
    "Final Answer: The final answer is $\\boxed{B}$. I hope it is correct.",
    "Answer: see the box \\boxed{B}",
    "\\fbox{B}",
    "\\boxed{\\text{Option B}}",
    "\\boxed{\\textbf{(B)}\\ 300}",
    "<answer>B",
    '{\n  "answer": "B",\n  "confidence": 0.9\n}',
    '{"confidence": 0.9, "answer": "B"}',
    '{"explanation": "A is wrong", "answer": "B", "sure": true}',
    "答案是：B",
    "ANSWER: B\r\n",
    "Both A and C are wrong.\nANSWER: B",
    "A or B, but I'd go with B.",
    "ANSWER: B",
    "Some text.\n\nANSWER: B",
    "**ANSWER: B**",
    "**ANSWER:** B",
    "**Answer**: B",
    "ANSWER: (B)",
    "ANSWER: **B**",
    "ANSWER: B.",
    "ANSWER: B) Paris",
    "ANSWER: B. Paris",
    "ANSWER: B - Paris",
    "ANSWER: B: Paris",
    "ANSWER: [B]",
    "ANSWER:B",
    "ANSWER: $B$",
    "ANSWER: $\\boxed{B}$",
    "ANSWER: \\text{B}",
    "ANSWER: \\(B\\)",
    "ANSWER: 'B'",
    'ANSWER: "B"',
    "ANSWER: `B`",
    "`ANSWER: B`",
    "```\nANSWER: B\n```",
    "answer: b",
    "Answer: (b)",
    "ANSWER: Option B",
    "ANSWER: option (B)",
    "ANSWER: Ｂ",
    "ANSWER：B",
    "ANSWER = B",
    "ANSWER B",
    "ANSWER - B",
    "> ANSWER: B",
    "# ANSWER: B",
    "- ANSWER: B",
    "Final answer: B",
    "The final answer is: B",
    "**Final Answer: (B)**",
    "Answer:\n\nB",
    "**Answer:**\n\n**(B)** Paris",
    "So it is Paris. ANSWER: B",
    '{"answer": "B"}',
    '{"reasoning": "A is wrong", "answer": "B"}',
    "<answer>B</answer>",
    "<answer>\n(B)\n</answer>",
    "ANSWER: B<|im_end|>",
    "ANSWER: B</s>",
    "ANSWER: B because A is wrong",
    "ANSWER: B (A is wrong)",
    "ANSWER: B, not A",
    "ANSWER: B!",
    "ANSWER: A\nWait, let me check.\nANSWER: B",
    "ANSWER: A or C\nSo:\nANSWER: B",
    "答案：B",
    "答案是B",
    "Réponse : B",
    "\\boxed{B}",
    "$$\\boxed{\\text{B}}$$",
    "\\boxed{\\mathbf{\\text{(B)}}}",
    "\\boxed{B. 42}",
    "The answer is $\\boxed{B}$.",
    "\\boxed{42} m, so \\boxed{B}",
    "The answer is B.",
    "The answer is (B).",
    "the correct answer is **B**",
    "The correct answer is: **B) Paris**",
    "The best option is B because it is so.",
    "The answer is clearly B.",
    "The answer is B, not A.",
    "I think the answer is B.",
    "I choose B",
    "I'll go with option (B).",
    "Option B is correct.",
    "(B) is the correct answer",
    "B is the answer.",
    "Therefore, B is the correct answer.",
    "B",
    "(B)",
    "B.",
    "**B**",
    "b)",
    "B) Paris",
    "B. Paris\n\nParis is the capital.",
    "(B) Paris",
    "Explanation here.\n\nB",
    "Let us see.\n\n**B. Paris**",
    "It is **B**.",
    "<think>ANSWER: A</think>ANSWER: B",
    "<think>a<think>ANSWER: A</think>ANSWER: C</think>ANSWER: B",
    "ANSWER: A</think>ANSWER: B",
    "ANSWER: B<think>ANSWER: A",
    "ANSWER: B\n<think>ANSWER: A</think>",
    "[THINK]ANSWER: A[/THINK]ANSWER: B",
    "◁think▷ANSWER: A◁/think▷ANSWER: B",
    "<THINKING>the answer is A</THINKING>\nthe answer is B",
    "<reasoning>\\boxed{A}</reasoning>\\boxed{B}",
    "<|channel|>analysis<|message|>ANSWER: A<|end|><|start|>assistant<|channel|>final<|message|>ANSWER: B<|return|>",
    "<|channel>thought\nANSWER: A<channel|>ANSWER: B",
    "<|begin_of_thought|>ANSWER: A<|end_of_thought|>ANSWER: B",
    "If the answer is A, then x. But no: ANSWER: B",
    "If we multiply 20 by 15 we get 300, so the answer is B.",
    "Is the answer A? No. The answer is B.",
    "A) no\nB) yes\nC) no\nThe answer is B",
    "Answer: To find it we multiply.\nSo the answer is (B).",
    "The answer is not A. The answer is B.",
    "A is wrong. C is wrong. ANSWER: B",
    "ANSWER: B ✅",
    "ANSWER: B → Paris",
    "* ANSWER: **B**",
    "**Final Answer:\n(B)**",
    "ANSWER: <B>",
    "ANSWER: the answer is B",
    "<b>B</b>",
    "The answer is\n\nB",
    "the answer is b.",
    "Choice: B",
    "ANSWER: \\textbf{B}",
    "\\boxed{\\text{B) Paris}}",
    "<Think >ANSWER: A</ think> B",
    "**Answer:** B\n**Explanation:** Option A is correct only for gases.",
]
SAYS_A = [
    "La respuesta correcta es la A.",
    "A resposta correta é a letra A.",
    "A) Yes, because B) No contradicts the text.\nANSWER: A",
    "ANSWER: A",
    "The answer is A.",
    "ANSWER: A is correct",
]
SAYS_NOTHING = [
    "The capital is B. Wait, actually, no.",
    "Between C and D, the second option is better.",
    "A) Yes. B) No",
    "A) Yes\nB) No",
    "Statements A, C",
    "ANSWER: A\nANSWER: B",
    "La respuesta es A o B.",
    "La réponse est A ou B.",
    "A resposta é A ou B.",
    "La risposta è A o B.",
    "La risposta è A oppure B.",
    "Die Antwort ist A oder B.",
    "Die richtige Antwort ist entweder A oder B.",
    "정답은 A 또는 B입니다.",
    "答えはAまたはBです。",
    "答案是A或B。",
    "Правильный ответ: A или B.",
    r"Part one: \boxed{A}. Part two: \boxed{C}.",
    r"The answer is \boxed{C}. If I missed a factor, it would be \boxed{B}.",
    r"It is \boxed{A}, but also \boxed{C}.",
    "The answer is C. A and B are also correct.",
    "If I am wrong about the sign, the answer is B; if not, C.",
    "A is a possibility, as is C.",
    "It is not clear why B is the one to pick.",
    "Biotin is one of the vitamins. So I choose B vitamins.",
    "Here is the answer to your question:\n\nA) red\nB) blue\nC) green\nD) pink",
    "A: B",
    "I have\na\nquestion",
    "The correct answer is A, B, and C.",
    "ANSWER: A. Paris or B. Rome",
    "ANSWER: A: Paris or B: Rome",
    "I pick A or B.",
    "The choice is a matter of taste.",
    "Vitamin C is the best option.",
    "**A key point** to make",
    "**A man, a plan**",
    "Option A or option B is correct.",
    "ANSWER: (A) (B)",
    "ANSWER: Both A and B",
    "Both A and B are correct.",
    "I am torn between A and B.",
    "Option A\nOption B",
    "",
    "   ",
    "I cannot answer.",
    "ANSWER: E",
    "ANSWER: Z",
    "ANSWER: A or B",
    "ANSWER: A and B",
    "ANSWER: A, B",
    "ANSWER: A/B",
    "ANSWER: A & C",
    "ANSWER: AB",
    "ANSWER: A B",
    "ANSWER: [A, B]",
    "ANSWER: (A) or (B)",
    "ANSWER: A) x or B) y",
    "ANSWER: B?",
    "ANSWER: B (or maybe C)",
    "ANSWER: B, maybe",
    "ANSWER: not B",
    "ANSWER: None of the above",
    "ANSWER: A man",
    "ANSWER: B-cells",
    "ANSWER: C major",
    "ANSWER: C.elegans",
    "ANSWER: A+",
    "ANSWER: 2",
    "ANSWER: Paris",
    "ANSWER:",
    "ANSWER: X",
    "ANSWER: [LETTER]",
    "ANSWER: $LETTER",
    "ANSWER: A\nANSWER: E",
    "ANSWER: A\nANSWER: Paris",
    "\\boxed{A}\nANSWER: B",
    "\\boxed{A} or \\boxed{B}",
    "\\boxed{A, B}",
    "\\boxed{AB}",
    "The answer is A or B.",
    "The answer is either A or B.",
    "The answer might be B.",
    "Maybe the answer is B.",
    "The answer is B?",
    "If the answer is B, then C.",
    "If it is cold, the answer is B.",
    "I doubt the answer is B.",
    "I don't think B is the correct answer",
    "Neither A nor B is the correct answer",
    "A or B is the correct answer",
    "It is not true that the answer is A.",
    "The answer is not B.",
    "The answer is a bit unclear.",
    "The answer is a man.",
    "the answer is Paris",
    "A) x\nB) y\nC) z\nD) w",
    "**A)** x **B)** y",
    "A\nB\nC\nD",
    "<think>ANSWER: B",
    "<think>ANSWER: B</think>",
    "<think>a <think>b</think> ANSWER: B",
    "The answer is B.\n\nC",
    "B is incorrect",
    "Option B is not correct.",
    "Is B the correct answer?",
    "A man walks into a bar",
    "I am a model",
    "Answer choices: A) x B) y",
    "ANSWER: C#",
    "ANSWER: C++",
    "ANSWER: A*",
    "ANSWER: B</think>",
]


def extract(text: str, options: int) -> int | None:
    label = read_choice(text, options)
    return None if label is None else LETTERS.index(label)


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FORMS = [
    "ANSWER: {}",
    "ANSWER: ({})",
    "**ANSWER: {}**",
    "Final answer: {}.",
    r"$\boxed{{{}}}$",
    r"\boxed{{\text{{{}}}}}",
    "<answer>{}</answer>",
    "The correct answer is ({}).",
    "I choose option {}.",
    "({}) is the correct answer.",
    "It is **{}**.",
    "{}",
    "{}) the text of the option",
]
TAGS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<reasoning>", "</reasoning>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
]
# Text without the brackets that tags are made of, and statements that would count if they were spoken.
words = st.one_of(
    st.text(st.characters(exclude_characters="<>[]◁▷")),
    st.sampled_from([*SAYS_A, "ANSWER: C", "\boxed{D}", "The answer is C.", "**D**"]),
)


@pytest.mark.parametrize("text", SAYS_B)
def test_says_b(text: str) -> None:
    assert extract(text, 4) == 1


@pytest.mark.parametrize("text", SAYS_A)
def test_says_a(text: str) -> None:
    assert extract(text, 4) == 0


YES_NO_MAYBE = ["yes", "no", "maybe"]
TEXTS = [
    ("The study shows it, so yes.", YES_NO_MAYBE, "A"),
    ("I would say yes.", YES_NO_MAYBE, "A"),
    ("ANSWER: maybe", YES_NO_MAYBE, "C"),
    ("No, wait. The answer is C.", YES_NO_MAYBE, "C"),
    ("A) yes\nB) no\nC) maybe", YES_NO_MAYBE, None),
    ("A) Correct\nB) Incorrect\nThe claim is not supported. Answer: B", ["Correct", "Incorrect"], "B"),
    ("The capital of Australia is Canberra.", ["Sydney", "Canberra", "Perth"], "B"),
    ("It could be Sydney or Perth.", ["Sydney", "Canberra", "Perth"], None),
    ("ANSWER: A", ["A", "B"], "A"),
]


@pytest.mark.parametrize(("reply", "texts", "answer"), TEXTS)
def test_options_texts_are_no_verdicts_and_may_be_the_answer(reply: str, texts: list[str], answer: str | None) -> None:
    assert read_choice(reply, len(texts), texts) == answer


def test_what_is_declared_at_once_is_what_the_whole_reader_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    replies = [json.loads(line) for line in (DATA / "replies.jsonl").read_text().splitlines()]
    at_once = [(reply, declared(reply["reply"], reply["options"])) for reply in replies]
    settled = [(reply, found) for reply, found in at_once if found is not None]
    assert len(settled) > 100
    monkeypatch.setattr(choice, "_declared", lambda text, labels: None)
    for reply, found in settled:
        assert read_choice(reply["reply"], reply["options"]) == found


@pytest.mark.parametrize("text", SAYS_NOTHING)
def test_says_nothing(text: str) -> None:
    assert extract(text, 4) is None


@given(st.sampled_from(FORMS), st.integers(2, 26), st.integers(0, 25))
def test_every_form_names_every_letter_in_range(form: str, options: int, position: int) -> None:
    assert extract(form.format(LETTERS[position]), options) == (position if position < options else None)


@given(words, words, st.sampled_from(TAGS))
def test_thinking_never_counts(thought: str, answer: str, tags: tuple[str, str]) -> None:
    opens, closes = tags
    said = extract(answer, 4)
    assert extract(f"{opens}{thought}{closes}{answer}", 4) == said
    assert extract(f"{thought}{closes}{answer}", 4) == said  # The prompt opened it.
    assert extract(f"{opens}{thought}", 4) is None  # The token cap closed it.
    assert extract(f"{answer}\n{opens}{thought}", 4) == said


@given(st.text(), st.integers(2, 26))
def test_any_text_has_an_answer_in_range_or_none(text: str, options: int) -> None:
    found = extract(text, options)
    assert found is None or 0 <= found < options


@given(st.text(st.characters(exclude_characters="<>[]◁▷\\")), st.integers(0, 3), st.integers(0, 3))
def test_two_different_final_answers_are_none(working: str, first: int, last: int) -> None:
    one, other = LETTERS[first], LETTERS[last]
    assert extract(f"ANSWER: {one}\nANSWER: {other}", 4) == (last if first == last else None)
    assert extract(f"{working}\nANSWER: {one}\nANSWER: {other}", 4) in (None, last)
    assert extract(f"ANSWER: {one}\nWait, let me check that again.\nANSWER: {other}", 4) == last


@given(st.permutations(LETTERS[:4]), st.sampled_from(["or", "and", ",", "/", "&"]))
def test_two_options_are_no_answer(letters: list[str], link: str) -> None:
    for form in ("ANSWER: {}", "The answer is {}.", r"\boxed{{{}}}"):
        assert extract(form.format(f"{letters[0]} {link} {letters[1]}"), 4) is None


def test_spoken_keeps_what_is_said_around_thinking() -> None:
    assert spoken("one <think>two</think> three").split() == ["one", "three"]
    assert spoken("nothing to leave out") == "nothing to leave out"


@pytest.mark.parametrize(
    "piece",
    [
        "the answer is B ",
        "<answer>",
        "(",
        r"\boxed{",
        "**A ",
        "<think>",
        "a\n",
        "** ",
        "answer      ",
        "answer:(((((",
        "\\",
    ],
)
def test_a_million_hostile_characters_are_read(piece: str) -> None:
    """A pattern that backtracks would take hours."""
    assert extract(piece * (1_000_000 // len(piece)), 4) in {None, *range(4)}
