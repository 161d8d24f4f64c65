# libzip as the target springtime_zip. The package file that Debian installs with it asks for command-line
# tools that come in other packages.
find_path(ZIP_INCLUDE_DIR zip.h REQUIRED)
find_library(ZIP_LIBRARY zip REQUIRED)
mark_as_advanced(ZIP_INCLUDE_DIR ZIP_LIBRARY)
if(NOT TARGET springtime_zip)
    add_library(springtime_zip UNKNOWN IMPORTED)
    set_target_properties(springtime_zip PROPERTIES
        IMPORTED_LOCATION "${ZIP_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ZIP_INCLUDE_DIR}")
endif()
