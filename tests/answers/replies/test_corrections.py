"""Which of several answers counts: the one after a correction, and none where they stand side by side."""

import pytest

from swaplaw.answers import read_choice

REPLIES = [
    (r"First pass: \boxed{A}. But I dropped a sign. Correct result: \boxed{C}.", "C"),
    ("\\boxed{D}\n\nI used the wrong formula. Redoing it gives 12.\n\n\\boxed{B}", "B"),
    (r"Part one: \boxed{A}. Part two: \boxed{C}.", None),
    (r"The answer is \boxed{C}. A common error is to answer \boxed{B}.", None),
    (r"The answer is \boxed{C}. If I missed a factor, it would be \boxed{B}.", None),
    (r"It is \boxed{A}, but also \boxed{C}.", None),
    ("Initially: A.\nAfter checking units: C.\nAfter checking the sign: B.\n\nSettled on B.", "B"),
    ("So: A. But equally: B.", None),
    ("A is a possibility, as is C.", None),
    ("The answer is C. A and B are also correct.", None),
    ("La bonne réponse est C. Les options A et B sont aussi correctes.", None),
    ("Правильный ответ: B. Вариант C тоже верен.", None),
    ("If I am wrong about the sign, the answer is B; if not, C.", None),
    ("Is it a base? If so, B. If not, C.", None),
    ("Nothing supports D.", None),
    ("Cevap A seçeneği olamaz.", None),
    ("The best treatment is surgery (A). However, the patient refuses; the next best is a drug (C).", None),
]


@pytest.mark.parametrize(("reply", "answer"), REPLIES)
def test_the_last_answer_counts_only_after_a_correction(reply: str, answer: str | None) -> None:
    assert read_choice(reply, 4) == answer


DISMISSED = [
    "Правильный ответ: D. Варианты A, B и C не подходят.",
    "La bonne réponse est D. Les options A, B et C ne conviennent pas.",
    "Die richtige Antwort ist D. Die Optionen A, B und C treffen nicht zu.",
    "La respuesta correcta es D. Las opciones A, B y C son incorrectas.",
    "La risposta corretta è D. Le opzioni A, B e C sono sbagliate.",
    "A resposta correta é D. As alternativas A, B e C estão erradas.",
    "Doğru cevap D seçeneğidir. A, B ve C şıkları yanlıştır.",
    "Prawidłowa odpowiedź to D. Odpowiedzi A, B i C są błędne.",
    "Everything supports D; nothing supports A, B, or C.",
]


@pytest.mark.parametrize("reply", DISMISSED)
def test_options_that_are_dismissed_in_a_list_take_no_vote(reply: str) -> None:
    assert read_choice(reply, 4) == "D"
