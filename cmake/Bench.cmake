# SPDX-License-Identifier: Apache-2.0
#
# bench/*.c: one executable each, build/bench/NAME, which prints a table. Never part of the tests; `make bench` runs them.
file(GLOB xst_benches CONFIGURE_DEPENDS bench/*.c)
foreach(source ${xst_benches})
    get_filename_component(name ${source} NAME_WE)
    add_executable(bench.${name} ${source})
    set_target_properties(bench.${name} PROPERTIES OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
    target_compile_definitions(bench.${name} PRIVATE XST_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    target_link_libraries(bench.${name} PRIVATE xstage xst_flags m)
endforeach()
