"""What a kernel prints."""

from __future__ import annotations

from typing import Iterable

from ._core import Certificate, Cost

_WIDTH = 26


def _row(name: str, value: str) -> str:
    return f"  {name:<{_WIDTH}}{value}\n"


def _cost_text(cost: Cost) -> str:
    idle = "" if cost.processors_with_work == cost.processors else f", {cost.processors_with_work:,} with work"
    messages = f"{cost.messages:,} message{'' if cost.messages == 1 else 's'}"
    out = "Cost\n" + _row("processors", f"{cost.processors:,}{idle}")
    out += _row("flops", f"{cost.flops:.4g}")
    out += _row("bytes moved", f"{cost.bytes_moved:,} in {messages}")
    for name, tensor in cost.tensors.items():
        if tensor.bytes:
            out += _row(f"  of {name}", f"{tensor.bytes:,}, {tensor.pattern}")
    out += _row("most on one processor", f"{cost.max_bytes_received:,} received, {cost.max_bytes_sent:,} sent")
    return out + _row("peak bytes per processor", f"{cost.peak_bytes_per_processor:,}")


def _certificate_text(certificate: Certificate) -> str:
    out = f"Certificate of {certificate.statement}\n"
    out += _row("exchanged bytes", f"{certificate.exchanged_bytes:,} by processor {certificate.busiest}")
    out += _row("lower bound", f"{certificate.lower_bound_bytes:,}")
    optimality = certificate.optimality
    return out + _row("optimality", "none" if optimality is None else f"{optimality:.4g}")


def explanation(text: str, cost: Cost, certificates: Iterable[Certificate]) -> str:
    """The program, its cost and its certificates; the proofs are left out."""
    return "\n".join([text.rstrip("\n") + "\n", _cost_text(cost), *map(_certificate_text, certificates)])
