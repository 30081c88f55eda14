"""What every exported document says of the edition that it was made from. Pure."""

from __future__ import annotations

from typing import Any

from eval.publishing.publication import Published
from eval.report import utc_text


def edition_values(published: Published) -> dict[str, Any]:
    """The edition as plain values, as the schemas of ``results`` and ``problems`` have it."""
    edition = published.edition
    return {
        "name": published.name,
        "digest": published.digest,
        "build_id": published.build_id,
        "frozen_at": utc_text(published.frozen_at),
        "as_of": utc_text(edition.as_of),
        "software": edition.software,
        "note": edition.note,
        "n_problems": len(edition.problems),
        "n_runs": len(edition.runs),
        "environment_digest": edition.environment and edition.environment.digest,
        "base_url": published.base_url,
    }
