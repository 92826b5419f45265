"""The queries of a job: their steps, streams and inputs, and whether they declare state. Pure."""

from flareiac.kernel.data import Attributes
from flareiac_spark.checkpoint_files.layout import ALL
from flareiac_spark.sql.state import stateful_steps


def declares_state(attributes: Attributes) -> bool:
    """Whether some step keeps state."""
    own = any(step["dedup"] or step.get("stateful") for step in attributes["steps"].values())
    code = [name for name, step in attributes["steps"].items() if step.get("python")]
    return own or bool(stateful_steps(queries(attributes), [*streams(attributes), *code]))


def queries(attributes: Attributes) -> dict[str, str]:
    """The SQL of the steps, in order."""
    return {
        name: attributes["steps"][name]["sql"]
        for name in attributes["step_order"]
        if attributes["steps"][name]["sql"]
    }


def streams(attributes: Attributes) -> list[str]:
    """The names of the inputs that are streams."""
    return [name for name, item in attributes["inputs"].items() if item["kind"] == "stream"]


def query_of(attributes: Attributes, output: str) -> str:
    """The name of the query that feeds an output."""
    return ALL if attributes["foreach_batch"] else output


def identity_of(item: Attributes) -> str:
    """What an input reads, whatever it is called."""
    match item["kind"]:
        case "stream":
            return source_of(item["source"])
        case "table":
            return f"{item['table']}"
        case _:
            return f"the files in {item['path']}"


def source_of(source: Attributes) -> str:
    """A streamed source as its kind and place."""
    match source["kind"]:
        case "files":
            return f"files in {source['path']}"
        case "table":
            return f"{source['table']}"
        case kind:
            return f"a {kind} stream"
