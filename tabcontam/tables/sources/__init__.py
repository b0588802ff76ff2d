"""Tables that are not files on this machine: at an address, on OpenML or Hugging Face, or in scikit-learn."""

from tabcontam.tables.sources.addresses import without_queries as without_queries
from tabcontam.tables.sources.base import TableSource as TableSource
from tabcontam.tables.sources.base import read_source as read_source
from tabcontam.tables.sources.source_names import card_of as card_of
from tabcontam.tables.sources.source_names import is_address as is_address
from tabcontam.tables.sources.source_names import is_source as is_source
from tabcontam.tables.sources.source_names import open_source as open_source
from tabcontam.tables.sources.source_names import stated_name as stated_name
