"""Programs that measure tabcontam: rates, seconds, memory, and what its tests would notice. No part of the package."""
