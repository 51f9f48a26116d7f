add_library(pugixml::pugixml STATIC IMPORTED)
set_target_properties(pugixml::pugixml PROPERTIES IMPORTED_LOCATION /usr/lib/x86_64-linux-gnu/libpugixml.a)
