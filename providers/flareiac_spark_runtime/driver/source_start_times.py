"""The time at which a stream of a table begins: one for a whole generation, kept beside its checkpoint. Of
other streams it is there where a generation was prepared to begin at a time.

Iceberg looks at the time at every start, not only at the first: one that lies after the newest snapshot sets
the position back and hides what was appended while the job was stopped (measured with Iceberg 1.12). So the
moment of the first start is written down before it.
"""

import time
from collections.abc import Mapping

from flareiac_spark_runtime.control import ControlError, JobSpec, StreamInput
from flareiac_spark_runtime.control.atomic_files import read_json, write_json
from flareiac_spark_runtime.control.timestamps import start_timestamp
from flareiac_spark_runtime.driver.refusal import Refusal
from flareiac_spark_runtime.storage import place_at


def start_times(spec: JobSpec) -> Mapping[str, int | None]:
    """UTC milliseconds by input, None for the beginning. Writes them down at the first start of a
    generation.
    """
    wanted = {
        job_input.name: table.start_from
        for job_input in spec.inputs
        if isinstance(job_input, StreamInput) and (table := job_input.source.table) is not None
    }
    folders = [place_at(output.checkpoint) for output in spec.outputs if output.checkpoint]
    prepared = [
        job_input.name
        for job_input in spec.inputs
        if isinstance(job_input, StreamInput)
        and job_input.source.begins_at_times
        and job_input.name not in wanted
    ]
    notes = [folder.with_name(f".{folder.name}.starts.json") for folder in folders]
    if not notes or not (wanted or prepared):
        return {}
    try:
        # An output that was added later begins where the others began.
        known = next((content for note in notes if (content := read_json(note)) is not None), None)
        if known is None and not wanted:
            return {}
        if known is None:
            used = any((folder / "offsets").is_dir() for folder in folders)
            known = {
                "times": {name: None if used else _moment(start_from) for name, start_from in wanted.items()}
            }
        for note in notes:
            if not note.exists():
                # What it was prepared for is true of its own folder alone
                write_json(note, {"times": known.get("times")})
    except ControlError as error:
        raise Refusal("START_TIMES_UNREADABLE", str(error)) from error
    times = known.get("times")
    if not isinstance(times, dict):
        raise Refusal("START_TIMES_UNREADABLE", f"{notes[0]} does not say where the streams begin.")
    return {name: times[name] if isinstance(times.get(name), int) else None for name in (*wanted, *prepared)}


def _moment(start_from: str) -> int | None:
    try:
        return start_timestamp(start_from, now=time.time())
    except ValueError:
        raise Refusal("START_NOT_UNDERSTOOD", f"start_from {start_from!r} is no ISO 8601 time.") from None
