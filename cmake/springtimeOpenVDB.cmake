# OpenVDB as the target springtime_openvdb. The module that comes with OpenVDB asks for the libraries
# behind its file formats too, which we do not use.
find_package(Imath CONFIG REQUIRED)
find_package(TBB CONFIG REQUIRED)
find_path(OPENVDB_INCLUDE_DIR openvdb/openvdb.h REQUIRED)
find_library(OPENVDB_LIBRARY openvdb REQUIRED)
mark_as_advanced(OPENVDB_INCLUDE_DIR OPENVDB_LIBRARY)
if(NOT TARGET springtime_openvdb)
    add_library(springtime_openvdb UNKNOWN IMPORTED)
    set_target_properties(springtime_openvdb PROPERTIES
        IMPORTED_LOCATION "${OPENVDB_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${OPENVDB_INCLUDE_DIR}"
        INTERFACE_LINK_LIBRARIES "Imath::Imath;TBB::tbb")
endif()
