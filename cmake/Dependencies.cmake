# SPDX-License-Identifier: Apache-2.0
#
# Libraries of the host side. Sets XST_LIBRARY_LINK (what libxstage links) and the interface target
# xst_library_dependencies (what its objects compile with).
find_package(PkgConfig REQUIRED)

function(xst_find_library prefix module package)
    pkg_check_modules(${prefix} ${module})
    if(NOT ${prefix}_FOUND)
        message(FATAL_ERROR "${module} is missing: run 'make setup' (Debian package: ${package})")
    endif()
endfunction()

xst_find_library(JANSSON jansson libjansson-dev)
xst_find_library(XXHASH libxxhash libxxhash-dev)
pkg_check_modules(SMARTCOLS smartcols)
if(NOT SMARTCOLS_FOUND)
    message(WARNING "smartcols is missing, so the tool is not built: run 'make setup' (Debian package: libsmartcols-dev)")
endif()
pkg_check_modules(CMOCKA cmocka)
find_path(XST_RANDOM123_INCLUDE Random123/philox.h)
if(NOT XST_RANDOM123_INCLUDE)
    message(FATAL_ERROR "Random123 is missing: run 'make setup' (Debian package: librandom123-dev)")
endif()

set(XST_LIBRARY_LINK ${JANSSON_LIBRARIES} ${XXHASH_LIBRARIES} m ${CMAKE_DL_LIBS} pthread)
add_library(xst_library_dependencies INTERFACE)
target_include_directories(xst_library_dependencies SYSTEM INTERFACE ${JANSSON_INCLUDE_DIRS} ${XXHASH_INCLUDE_DIRS}
    ${XST_RANDOM123_INCLUDE})
link_directories(${JANSSON_LIBRARY_DIRS} ${XXHASH_LIBRARY_DIRS} ${SMARTCOLS_LIBRARY_DIRS} ${CMOCKA_LIBRARY_DIRS})

# OpenMP speeds up sweeps and is not needed for anything else.
set(xst_openmp "no OpenMP")
find_package(OpenMP COMPONENTS C QUIET)
if(OpenMP_C_FOUND AND NOT XST_FUZZ)
    target_compile_options(xst_library_dependencies INTERFACE $<$<COMPILE_LANGUAGE:C>:${OpenMP_C_FLAGS}>)
    list(APPEND XST_LIBRARY_LINK ${OpenMP_C_FLAGS})
    set(XST_PC_OPENMP " ${OpenMP_C_FLAGS}")
    set(xst_openmp "OpenMP ${OpenMP_C_VERSION}")
else()
    target_compile_options(xst_library_dependencies INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wno-unknown-pragmas>)
endif()
