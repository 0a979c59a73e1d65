# SPDX-License-Identifier: Apache-2.0
#
# tests/fuzz/fuzz_NAME.c: one libFuzzer program each, with address and undefined-behaviour sanitizers and leak checks.
# Seeds live in tests/fuzz/corpus/NAME/. scripts/run_fuzz.sh builds and runs them.
file(GLOB xst_fuzzers CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
add_custom_target(fuzzers)
foreach(source ${xst_fuzzers})
    get_filename_component(name ${source} NAME_WE)
    add_executable(${name} ${source})
    # XST_FUZZER: the entry point is called by libFuzzer and has no prototype.
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz XST_FUZZER ON)
    target_include_directories(${name} PRIVATE src cuda)
    target_link_libraries(${name} PRIVATE xstage_static xst_flags)
    if(TARGET xst_cli)
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:xst_cli>)
        target_include_directories(${name} PRIVATE cli)
        target_link_libraries(${name} PRIVATE ${SMARTCOLS_LIBRARIES})
    endif()
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(fuzzers ${name})
endforeach()
