# SPDX-License-Identifier: Apache-2.0
#
# Flags of every C file of the project, as the interface target xst_flags.
add_library(xst_flags INTERFACE)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

target_compile_definitions(xst_flags INTERFACE _GNU_SOURCE)
target_compile_options(xst_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wall> $<$<COMPILE_LANGUAGE:C>:-Wextra>
    $<$<COMPILE_LANGUAGE:C>:-Wshadow> $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    $<$<AND:$<COMPILE_LANGUAGE:C>,$<NOT:$<BOOL:$<TARGET_PROPERTY:XST_FUZZER>>>>:-Wmissing-prototypes>)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # Messages are cut to their buffer on purpose; snprintf never overruns.
    target_compile_options(xst_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Wno-format-truncation>)
endif()
if(XST_WERROR)
    target_compile_options(xst_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-Werror>)
endif()

# A fit must give the same bytes whatever compiler built it: no contraction to fma, no reassociation.
# File names inside the binaries are relative to the top of the tree: a build elsewhere gives the same bytes, and a debugger
# started there finds the sources.
target_compile_options(xst_flags INTERFACE $<$<COMPILE_LANGUAGE:C>:-ffp-contract=off> -fvisibility=default
    -ffile-prefix-map=${PROJECT_SOURCE_DIR}/= -ffile-prefix-map=${CMAKE_BINARY_DIR}=.)

set(XST_LINK_OPTIONS "")
if(NOT XST_SANITIZE AND NOT XST_FUZZ)
    set(CMAKE_SHARED_LINKER_FLAGS "${CMAKE_SHARED_LINKER_FLAGS} -Wl,-z,defs")
endif()
if(XST_SANITIZE OR XST_FUZZ)
    set(XST_LINK_OPTIONS -fsanitize=address,undefined)
    target_compile_options(xst_flags INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all
                                               -fno-omit-frame-pointer)
endif()
if(XST_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
        message(FATAL_ERROR "XST_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
    endif()
    target_compile_options(xst_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
