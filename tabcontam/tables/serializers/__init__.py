"""Ways to write a row as text: templates, from the paper or the user, and the formats of tables on the web."""

from tabcontam.tables.serializers.base import Serializer as Serializer
from tabcontam.tables.serializers.serializer_files import DEFAULT as DEFAULT
from tabcontam.tables.serializers.serializer_files import all_serializers as all_serializers
from tabcontam.tables.serializers.serializer_files import as_facts as as_facts
from tabcontam.tables.serializers.serializer_files import from_facts as from_facts
from tabcontam.tables.serializers.serializer_files import from_file as from_file
from tabcontam.tables.serializers.serializer_files import in_order_of_finding as in_order_of_finding
from tabcontam.tables.serializers.serializer_files import load_passages as load_passages
from tabcontam.tables.serializers.serializer_files import load_serializer as load_serializer
from tabcontam.tables.serializers.serializer_files import load_serializers as load_serializers
from tabcontam.tables.serializers.serializer_files import load_template as load_template
from tabcontam.tables.serializers.serializer_files import shipped_templates as shipped_templates
from tabcontam.tables.serializers.template import PassageRows as PassageRows
from tabcontam.tables.serializers.template import TemplateRows as TemplateRows
