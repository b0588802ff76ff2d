"""The command `index`: its arguments and its output."""

import argparse
import os
import sys
from typing import TYPE_CHECKING

from tabcontam.errors import Exit

if TYPE_CHECKING:
    from tabcontam.extensions.corpora.search.corpus_index import CorpusIndex

DESCRIPTION = """\
Read documents once, and store an index of them on disk, in which exact strings are found without reading them again.
The index is stored under the documents' content, so the same documents under another name are not read again. After an
interruption (Ctrl-C), the same command continues. Nothing leaves the machine."""
EPILOG = f"""\
A PATH is a file, a folder (all files in it, however deep; no link in it is followed) or a quoted pattern. The command
reads JSON lines, JSON, Parquet, CSV, TSV, the text form of WARC and every other text file, each also as .gz, .zst, .bz2
or .xz. #FIELD or #FIELD+FIELD after the last PATH names the fields of records to read: 'data.jsonl#prompt+answer'.
In one word, as after corpus:, write {os.pathsep!r} between several paths.

The index takes five bytes on disk for each byte of text, and less than 1 GB of memory while it is built. To remove an
index, delete the folder that is printed.

examples:
  python -m tabcontam index dumps/
  python -m tabcontam index 'crawl/*.warc.wet.gz' instructions.jsonl
  python -m tabcontam index 'data.jsonl#instruction+output'
"""


def add_index(command: argparse.ArgumentParser) -> None:
    command.description, command.epilog = DESCRIPTION, EPILOG
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.add_argument("paths", nargs="+", metavar="PATH", help="a file, a folder or a pattern")
    command.add_argument("--json", action="store_true", help="print JSON")


def index(options: argparse.Namespace) -> int:
    from tabcontam.cli.printing import print_json
    from tabcontam.extensions.corpora.search.corpus_files import corpus_files
    from tabcontam.extensions.corpora.search.corpus_index import CorpusIndex
    from tabcontam.report.progress_display import progress

    files = corpus_files(os.pathsep.join(options.paths))
    print(f"tabcontam: {_several(len(files.files), 'file')}, {_size(files.size)}", file=sys.stderr)
    for name, reason in files.skipped[:10]:
        print(f"tabcontam: not read: {name}, {reason}", file=sys.stderr)
    if (more := len(files.skipped) - 10) > 0:
        print(f"tabcontam: not read: {more:,} more", file=sys.stderr)
    showing = progress(quiet=False)
    try:
        with showing.doing("looking for an index"):
            found = CorpusIndex.open(files, lambda line: print(f"tabcontam: {line}", file=sys.stderr))
        if existed := found is not None:
            made = found
        else:
            with showing.doing("reading and indexing, MB", evenly=True) as tell:
                begun: list[int] = []

                def show_progress(read: int, total: int, text: int) -> None:
                    begun.append(read)  # an interrupted command's share does not count for this one's speed
                    tell(read - begun[0] >> 20, total - begun[0] >> 20)
                    showing.note(f"{_size(text)} of text so far")

                made = CorpusIndex.build(files, show_progress)
    except KeyboardInterrupt:
        print("tabcontam: interrupted; the same command indexes the rest", file=sys.stderr)
        return Exit.INTERRUPTED
    if options.json:
        print_json(_facts(made, existed))
    else:
        print(_describe(made, existed))
    return Exit.DONE


def _facts(made: "CorpusIndex", existed: bool) -> dict[str, object]:
    return {
        "folder": str(made.folder),
        "built": not existed,
        "files": len(made.files.files),
        "documents": made.tally.documents,
        "bytes": made.tally.bytes,
        "bytes_on_disk": made.on_disk,
        "shards": len(made.shards),
        "skipped": [{"name": name, "reason": reason} for name, reason in made.files.skipped],
        "counts": {reason.name.lower(): number for reason, number in made.tally.counts.items()},
    }


def _describe(made: "CorpusIndex", existed: bool) -> str:
    amount = f"{_several(made.tally.documents, 'document')}, {_size(made.tally.bytes)} of text"
    lines = [f"{amount}: {'the index exists already' if existed else 'indexed'}"]
    if sentence := made.tally.sentence():
        lines.append(sentence)
    lines.append(f"the index takes {_size(made.on_disk)}: {made.folder}")
    return "\n".join(lines)


def _several(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _size(number: int) -> str:
    """Return a number of bytes in a unit that people read."""
    return f"{number / 1e6:,.1f} MB" if number < 10**9 else f"{number / 1e9:,.2f} GB"
