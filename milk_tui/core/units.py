"""Number words, units and months, for ``core.values``; data only."""

from __future__ import annotations

from decimal import Decimal

_NUMBERS = (
    "zero null cero", "one once eins eine une un uno una", "two twice zwei deux dos", "three thrice drei trois tres",
    "four vier quatre cuatro", "five fünf cinq cinco", "six sechs seis", "seven sieben sept siete",
    "eight acht huit ocho", "nine neun neuf nueve", "ten zehn dix diez", "eleven elf onze", "twelve zwölf douze doce",
)  # fmt: skip
NUMBER_WORDS: dict[str, int] = {word: number for number, words in enumerate(_NUMBERS) for word in words.split()} | {
    "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
    "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90, "hundred": 100,
}  # fmt: skip

_MEASURES: dict[str, dict[str, int | str]] = {
    "duration": {
        "ns nanosecond nanoseconds": "0.000001", "us µs μs microsecond microseconds": "0.001",
        "ms msec msecs millisecond milliseconds millisekunden millisecondes milisegundos": 1,
        "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos": 1000,
        "m min mins minute minutes minuten minuto minutos": 60_000,
        "h hr hrs hour hours stunde stunden heure heures hora horas": 3_600_000,
        "d day days tag tage tagen jour jours día días": 86_400_000,
        "week weeks wk wks woche wochen semaine semaines semana semanas": 604_800_000,
        "month months monat monate monaten mois mes meses": 2_592_000_000,
        "year years yr yrs jahr jahre jahren an ans année années año años": 31_536_000_000,
    },
    "bytes": {
        "b byte bytes": 1, "kb kilobyte kilobytes": 1000, "mb megabyte megabytes": 10**6,
        "gb gigabyte gigabytes": 10**9, "tb terabyte terabytes": 10**12,
        "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
    },
    "share": {"% percent prozent": 1},
    "rate": {"rps qps req/s": 1},
    "pixels": {"px pixel pixels": 1},
    "length": {
        "mm millimetre millimetres millimeter millimeters": 1,
        "cm centimetre centimetres centimeter centimeters": 10,
        "metre metres meter meters": 1000, "km kilometre kilometres kilometer kilometers": 10**6,
    },
    "mass": {"g gram grams": 1, "kg kilogram kilograms": 1000},
    "bandwidth": {"kbit/s kbps": 1, "mbit/s mbps": 1000, "gbit/s gbps": 10**6},
    "temperature": {"°c": 1},
    "frequency": {"hz": 1, "khz": 1000, "mhz": 10**6, "ghz": 10**9},
    "frames": {"fps": 1},
    "dollars": {"$ usd dollar dollars": 1},
    "euros": {"€ eur euro euros": 1},
}  # fmt: skip
UNITS: dict[str, tuple[str, Decimal]] = {
    name: (measure, Decimal(factor))
    for measure, units in _MEASURES.items()
    for names, factor in units.items()
    for name in names.split()
}
"""Unit → what it measures, and how many of that measure's smallest unit it is."""

_MONTHS = (
    "january jan januar janvier enero", "february feb februar février febrero", "march mar märz mars marzo",
    "april apr avril abril", "may mai mayo", "june jun juni juin junio", "july jul juli juillet julio",
    "august aug août agosto", "september sep sept septembre septiembre", "october oct oktober octobre octubre",
    "november nov novembre noviembre", "december dec dezember décembre diciembre",
)  # fmt: skip
MONTHS: dict[str, int] = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split()}
