"""Write the replies down anew."""

from tests.surfaces.golden import write_anew

write_anew()
