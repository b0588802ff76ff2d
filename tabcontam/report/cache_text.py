"""The text that `cache` prints: the location of the stored replies, their size and their LLMs."""

from tabcontam.asking.reply_store import StoreFacts
from tabcontam.verdicts.wording import visible


def cache_text(facts: StoreFacts) -> str:
    """Return the path of the file with stored replies, its size and number of replies, and a line for each LLM."""
    from rich.filesize import decimal

    replies = f"{facts['replies']:,} {'reply' if facts['replies'] == 1 else 'replies'}"
    lines = [f"{visible(facts['path'], line=True)}: {decimal(facts['size'])}, {replies}"]
    width = max((len(f"{number:,}") for number in facts["llms"].values()), default=0)
    lines += [f"  {number:>{width},}  {visible(llm, line=True)}" for llm, number in facts["llms"].items()]
    return "\n".join(lines)
