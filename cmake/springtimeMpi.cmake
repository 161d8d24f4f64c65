# Sets springtime_with_mpi. MPI is one shared object that the program loads where it was started under
# mpirun; nothing else knows of it, and a build without it is the same otherwise.
set(SPRINGTIME_MPI AUTO CACHE STRING "The MPI component: ON, OFF, or AUTO where MPI is installed")
set(springtime_with_mpi OFF)
if(SPRINGTIME_MPI AND NOT EMSCRIPTEN)
    set(MPI_CXX_SKIP_MPICXX ON)
    find_package(MPI QUIET COMPONENTS CXX)
    if(MPI_CXX_FOUND)
        set(springtime_with_mpi ON)
    elseif(NOT SPRINGTIME_MPI STREQUAL "AUTO")
        message(FATAL_ERROR "SPRINGTIME_MPI is ${SPRINGTIME_MPI}, but CMake finds no MPI: "
            "scripts/setup mpi installs Debian's OpenMPI")
    endif()
endif()
