"""Names for stories. None belongs to a real case."""

FIRST_NAMES = (
    "Mara", "Jonas", "Edda", "Piet", "Ilse", "Ruben", "Tove", "Anton", "Greta", "Milan", "Nora", "Alma", "Bruno",
    "Clara", "Dario", "Elin", "Femke", "Gustav", "Hanna", "Ivo", "Judith", "Karel", "Lotte", "Marek", "Ottilie",
)  # fmt: skip
LAST_NAMES = (
    "Veldkamp", "Brandt", "Okafor", "Lindqvist", "Marchetti", "Dubois", "Kowalski", "Harlow", "Rietveld", "Castell",
    "Whitlock", "Menke", "Olsen", "Aalders", "Pohl", "Tresor", "Brankov", "Amsel", "Ferrante", "Novak", "Solberg",
)  # fmt: skip
PLACES = ("harbour office", "tram depot", "brewery", "museum store", "dairy", "printing works", "boat yard", "garage")
FOLDERS = ("docs", "papers", "music", "photos", "files", "scans", "media", "work", "album", "desk", "notes", "misc")
NOTES = ("burn_after_reading", "for_your_eyes", "do_not_keep", "last_word", "between_us", "read_once", "quiet_please")
GOODS = (
    "copper wire",
    "diesel pump",
    "crane hire",
    "rope",
    "pilot fee",
    "paint",
    "ice",
    "night watch",
    "salt",
    "tyres",
)
STEMS = ("tide_table", "crew_rota", "customs_form", "fuel_card", "berth_plan", "playlist", "captions", "stock", "rota")
HIDING_PLACES = ("pier", "locker", "berth", "container", "shed", "slip", "cellar", "attic", "gate")
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October")
