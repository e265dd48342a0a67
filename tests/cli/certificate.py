"""Checks the proof of a lower bound from its text alone, in exact arithmetic, as docs/certificate.md says.

The text has no more than numbers and names, and nothing of it is taken on trust except what processors own.
"""

import math
import re
from fractions import Fraction


class Wrong(Exception):
    """The text proves nothing, or less than it claims."""


def require(condition, why):
    if not condition:
        raise Wrong(why)


def matched(pattern, line):
    match = re.fullmatch(pattern, line)
    require(match, f"unexpected line: {line}")
    return match.groups()


def pairs(text):
    """{"A": 12, "B": 3} of "A 12, B 3"."""
    return {name: Fraction(value) for name, value in (item.split(" ") for item in text.split(", "))}


def factors_of(text, indices):
    """(base, its indices, exponent) of every factor of "A(i, j)^(1/2) * k^(1/2)"; an index has itself."""
    for factor in [] if text == "1" else text.split(" * "):
        base, access, exponent = matched(r"([\w']+)(?:\(([^)]*)\))?(?:\^\(([\d/]+)\))?", factor)
        is_index = access is None and base in indices
        covered = [base] if is_index else re.findall(r"\w+", access or "")
        yield base, is_index, covered, Fraction(exponent or 1)


def is_at_most(powers, limit):
    """Whether the product of base ** exponent is at most the limit, by integers."""
    root = math.lcm(*(exponent.denominator for _, exponent in powers))
    product = Fraction(1)
    for base, exponent in powers:
        product *= base ** int(exponent * root)
    return product <= limit**root


def check_group(own, points_line, at_line, indices, least):
    """Checks one group that computes points, and returns how many at most, and whether that depends on the exchange."""
    (product,) = matched(r"  points <= (.*)", points_line)
    at, points = matched(r"  (?:at (.*): )?at most ([\d/]+) points", at_line)
    sizes = pairs(at) if at else {}
    covered = dict.fromkeys(indices, Fraction(0))
    exponents, powers = {}, []
    for base, is_index, covers, exponent in factors_of(product, indices):
        for index in covers:
            covered[index] += exponent
        if not is_index:
            exponents[base] = exponents.get(base, 0) + exponent
        powers.append((indices[base] if is_index else sizes[base], exponent))
    require(all(c >= 1 for c in covered.values()), f"an index is not covered: {points_line}")
    require(is_at_most(powers, Fraction(points)), f"more points than said: {at_line}")
    if exponents:
        first = sum(owned == 0 for owned in own.values())
        gains = {name: exponent / sizes[name] for name, exponent in exponents.items()}
        exchange = sum(e - gains[name] * max(own[name], 1) for name, e in exponents.items()) / max(gains.values())
        require(first + exchange >= least, f"that takes only {float(first + exchange)} elements: {at_line}")
    return Fraction(points), bool(exponents)


def check(text):
    """Raises Wrong if the text does not prove its claim, and returns the bytes that it claims."""
    lines = [line for line in text.splitlines() if not re.match(r"a processor is one of level|term ", line)]
    claim, element = map(int, matched(r"some processor exchanges at least (\d+) bytes, in elements of (\d+) bytes",
                                      lines[0]))  # fmt: skip
    all_points, extents = matched(r"points of all processors: (\d+) of (.*)", lines[1])
    indices = {} if not extents else pairs(extents)
    require(math.prod(indices.values()) == int(all_points), "wrong number of points")
    least = Fraction(claim, element)
    total, depends, at = Fraction(0), False, 2
    while at < len(lines):
        processors, owned = matched(r"(\d+) processors? owns?: (.*)", lines[at])
        own = pairs(owned)
        if lines[at + 1].startswith("  no points"):
            (first,) = matched(r"  no points with fewer than (\d+) elements?", lines[at + 1])
            require(int(first) == sum(o == 0 for o in own.values()), f"not the first elements: {lines[at + 1]}")
            require(int(first) >= least, f"points with fewer elements than claimed: {lines[at]}")
            at += 2
            continue
        points, by_exchange = check_group(own, lines[at + 1], lines[at + 2], indices, least)
        total += int(processors) * points
        depends = depends or by_exchange
        at += 3
    require(total < int(all_points) or (depends and total == int(all_points)), "the processors can compute all points")
    return claim
