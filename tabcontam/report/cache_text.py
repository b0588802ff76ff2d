"""What `cache` prints: where the stored replies are, how much room they take, and whose they are."""

from tabcontam.asking.replies import Facts
from tabcontam.verdicts.wording import visible


def cache_text(facts: Facts) -> str:
    """The file, its size and its replies, and a line for each LLM that has some."""
    replies = f"{facts['replies']:,} {'reply' if facts['replies'] == 1 else 'replies'}"
    lines = [f"{visible(facts['path'], line=True)}: {readable_size(facts['size'])}, {replies}"]
    width = max((len(f"{number:,}") for number in facts["llms"].values()), default=0)
    lines += [f"  {number:>{width},}  {visible(llm, line=True)}" for llm, number in facts["llms"].items()]
    return "\n".join(lines)


def readable_size(size: int) -> str:
    """Bytes as people read them.

    >>> readable_size(999), readable_size(45_500), readable_size(12_345_678)
    ('999 bytes', '46 kB', '12.3 MB')
    """
    if size < 1000:
        return "1 byte" if size == 1 else f"{size} bytes"
    if size < 1_000_000:
        return f"{round(size / 1000)} kB" if size < 999_500 else "1.0 MB"
    return f"{size / 1e6:.1f} MB" if size < 999_950_000 else f"{size / 1e9:.1f} GB"
