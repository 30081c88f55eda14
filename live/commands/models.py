"""``live models``: the registry of models, what is claimed of their cut-offs, and where claims are in conflict."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from live.config import models_folder
from live.errors import ExitCode, UsageError
from live.session import Session, output_console, print_json, read_day, session_of, utc_now

if TYPE_CHECKING:
    from eval.claims import Claim
    from eval.eligibility import UsedCutoff
    from eval.models import ModelEntry, Registry
    from eval.registry_checks import Finding

app = typer.Typer(
    help="Models and their training cut-offs. Entries of your own are TOML files ([[model]] name, release_date, "
    "aliases, base_models, rolling, web_access; below it [[model.claim]] kind, cutoff, by, source, looked_up), named "
    "by --models, by LIVE_MODELS or in live.toml.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document.")]
AsOf = Annotated[
    str | None,
    typer.Option("--cutoffs-as-of", metavar="DAY", help="Cut-offs as they were known on this day: 2026-05-04."),
]


@app.command("list")
def list_models(context: typer.Context, cutoffs_as_of: AsOf = None, as_json: AsJson = False) -> None:
    """All known models with the cut-off that a score of theirs rests on."""
    registry = _session(context, cutoffs_as_of).registry
    entries = sorted(registry.entries, key=lambda entry: entry.name.casefold())
    if as_json:
        print_json([_as_dict(entry, registry) for entry in entries])
        return
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    table.add_column("model", no_wrap=True)
    table.add_column("cut-off", overflow="fold")
    table.add_column("over at (UTC)", no_wrap=True)
    table.add_column("by", overflow="fold")
    for entry in entries:
        table.add_row(*map(escape, _cells(entry, registry)))
    output_console().print(table)


def _cells(entry: ModelEntry, registry: Registry) -> tuple[str, str, str, str]:
    """A row of the listing: the model, its cut-off, when that is over, and what it rests on."""
    from eval.eligibility import NotScored
    from eval.plausibility import believable_cutoff, doubtful

    used = believable_cutoff(entry, registry, utc_now().date())
    if isinstance(used, NotScored):
        return entry.name, "–", "–", f"not scored: {used.reason.partition(':')[0]}"
    basis = used.kind.replace("_", " ")
    inherited = f", inherited from {used.inherited_from}" if used.inherited_from else ""
    doubted = ", looks like a placeholder: not ranked" if doubtful(entry, used, registry) else ""
    return entry.name, used.cutoff.in_words, f"{used.cutoff.after:%Y-%m-%d %H}h", basis + inherited + doubted


@app.command("show")
def show_model(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A model or an alias.")],
    cutoffs_as_of: AsOf = None,
    as_json: AsJson = False,
) -> None:
    """One model with every claim, which one is used and why, where from, and since when."""
    registry = _session(context, cutoffs_as_of).registry
    entry = registry.resolve(name)
    if entry is None:
        raise UsageError(registry.unknown_model(name), "live models list shows all")
    facts = _as_dict(entry, registry)
    if as_json:
        print_json(facts)
        return
    facts.pop("claims")
    facts |= _dates_in_words(entry, registry)
    for key, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, list) else value
        typer.echo(f"{key}: {'–' if shown in (None, '') else shown}")
    typer.echo("claims:" if entry.claims else "claims: –")
    for claim in entry.claims:
        typer.echo(f"  {_claim_line(claim)}")


@app.command("import")
def import_models(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="FILE", help="The list to read.")],
    form: Annotated[str, typer.Option("--format", "-f", help="models.dev (api.json, or CSV) or haooowang (CSV).")],
    into: Annotated[Path, typer.Option(metavar="FILE.toml", help="Your registry file; made if it is not there.")],
    looked_up: Annotated[
        str | None,
        typer.Option(metavar="DAY", help="The day of the list: 2026-05-04. Default: what it says, else today."),
    ] = None,
    accept_earlier: Annotated[
        bool, typer.Option("--accept-earlier", help="Take dates that move a cut-off earlier: more problems count.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="The report as one JSON document.")] = False,
) -> None:
    """Bring the claims of a public list into a file of yours. What changed is superseded; the same twice is nothing.

    A date that the registry knows for no more than reliable knowledge or an estimate is filed as an estimate.
    """
    from eval.registry_import import import_claims

    session = session_of(context)
    day = read_day(looked_up, "--looked-up")
    today, registry = utc_now().date(), session.registry
    _make_own_folder(into)
    report = import_claims(path, form, into, registry, looked_up=day, today=today, accept_earlier=accept_earlier)
    if as_json:
        print_json(asdict(report))
    else:
        session.print_import(report, "models")
    if report.n_refused:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _make_own_folder(file: Path) -> None:
    """The folder of a file that is found unasked is made; a missing one elsewhere may be misspelt, and is refused."""
    folder = file.absolute().parent
    if folder == models_folder().absolute():
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{folder} cannot be made: {error.strerror}", "name another file with --into") from error


@app.command("check")
def check_models(
    context: typer.Context,
    against: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A public list to compare with; nothing is written.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", "-f", help="The form of that list: models.dev or haooowang.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Claims that contradict each other or lack evidence. Exit code 1: some change what a model is scored on."""
    from eval.registry_checks import check_registry, compare_with

    registry = session_of(context).registry
    if (against is None) != (form is None):
        raise UsageError("--against and --format go together", "live models check --against FILE --format haooowang")
    if against is None or form is None:
        findings = tuple(check_registry(registry, utc_now().date()))
        document: dict[str, Any] = {"n_models": len(registry.entries)}
        closing = f"{len(registry.entries)} models"
    else:
        found = compare_with(registry, against, form)
        findings = found.findings
        document = {"n_compared": found.n_compared, "n_only_listed": found.n_only_listed}
        document["refused"] = [asdict(refusal) for refusal in found.refused]
        closing = f"{found.n_compared} models compared, {found.n_only_listed} only in the list"
        for refusal in found.refused:
            typer.echo(f"refused: {refusal}", err=True)
    n_serious = sum(finding.changes_eligibility for finding in findings)
    if as_json:
        print_json({"findings": [finding.as_dict() for finding in findings], "n_serious": n_serious, **document})
    else:
        _print_findings(findings)
        change = "change" if against is None else "would change"
        typer.echo(f"{closing}: {len(findings)} findings, {n_serious} of them {change} what a model is scored on")
    if n_serious:
        raise typer.Exit(ExitCode.SOMETHING_FAILED)


def _print_findings(findings: tuple[Finding, ...]) -> None:
    kind = None
    for finding in findings:
        if finding.kind is not kind:
            kind = finding.kind
            typer.echo(f"{kind}:")
        months = f" ({finding.months} month{'s' if finding.months > 1 else ''})" if finding.months else ""
        mark = "!" if finding.changes_eligibility else " "
        typer.echo(f" {mark} {finding.model}: {finding.text}{months}")
        for source in finding.sources:
            typer.echo(f"     {source}")


def _session(context: typer.Context, cutoffs_as_of: str | None) -> Session:
    return replace(session_of(context), cutoffs_as_of=read_day(cutoffs_as_of, "--cutoffs-as-of"))


def _as_dict(entry: ModelEntry, registry: Registry) -> dict[str, Any]:
    from eval.eligibility import NotScored
    from eval.plausibility import believable_cutoff, doubtful
    from eval.report import utc_text

    used = believable_cutoff(entry, registry, utc_now().date())
    scored = None if isinstance(used, NotScored) else used
    return {
        "name": entry.name,
        "provider": entry.provider,
        "aliases": [alias.name for alias in entry.aliases],
        "base_models": list(entry.base_models),
        "cutoff": scored and scored.cutoff.as_written,
        "cutoff_precision": scored and str(scored.cutoff.precision),
        "cutoff_status": scored and str(scored.status),
        "cutoff_kind": scored and scored.kind,
        "cutoff_by": scored and scored.by,
        "cutoff_inherited_from": scored and scored.inherited_from,
        "cutoff_revision": scored and scored.revision,
        "counts_as_over_at": scored and utc_text(scored.cutoff.after),
        "cutoff_source": scored and scored.source,
        "cutoff_looked_up": scored and scored.looked_up,
        "why": scored and scored.why,
        "cutoff_hint": scored and _hint(entry, scored, registry),
        "cutoff_doubt": scored and doubtful(entry, scored, registry),
        "not_scored_because": None if scored else used.reason,  # type: ignore[union-attr]
        "release_date": entry.release and entry.release.as_written,
        "release_source": entry.release_source,
        "rolling": entry.rolling,
        "web_access": entry.web_access,
        "notes": entry.notes,
        "files": list(entry.origins),
        "claims": [_claim_dict(claim) for claim in entry.claims],
    }


def _hint(entry: ModelEntry, used: UsedCutoff, registry: Registry) -> str | None:
    """What would let more problems count for a model whose base model has a claim that it lacks itself."""
    from eval.claims import ClaimKind, holding
    from eval.eligibility import RELEASE_DATE

    if used.kind != RELEASE_DATE or used.inherited_from is not None:
        return None
    for base in registry.ancestors(entry):
        claims = holding(base.claims, ClaimKind.TRAINING_DATA)
        if claims:
            return (
                f"{claims[0].cutoff.in_words} is stated of {base.name} alone, and nothing dates what was trained on "
                f"later; a training_data claim of {entry.name} itself would take the place of the release date"
            )
    return None


def _claim_dict(claim: Claim) -> dict[str, Any]:
    return {
        "kind": str(claim.kind),
        "cutoff": claim.cutoff.as_written,
        "first": claim.cutoff.first,
        "last": claim.cutoff.last,
        "by": claim.by,
        "source": claim.source,
        "looked_up": claim.looked_up,
        "superseded": claim.superseded,
    }


def _dates_in_words(entry: ModelEntry, registry: Registry) -> dict[str, str | None]:
    """The coarse dates of a model as a person reads them: a day that counts as its month says so."""
    from eval.eligibility import NotScored
    from eval.plausibility import believable_cutoff

    used = believable_cutoff(entry, registry, utc_now().date())
    return {
        "cutoff": None if isinstance(used, NotScored) else used.cutoff.in_words,
        "release_date": None if entry.release is None else entry.release.in_words,
    }


def _claim_line(claim: Claim) -> str:
    """One claim in words: what, by whom, where from, and whether it still holds."""
    parts = [f"{claim.kind} {claim.cutoff.in_words}"]
    if claim.by:
        parts.append(f"by {claim.by}")
    if claim.looked_up:
        parts.append(f"looked up {claim.looked_up}")
    if claim.superseded:
        parts.append(f"superseded {claim.superseded}")
    return f"{', '.join(parts)}: {claim.source or 'no source'}"
