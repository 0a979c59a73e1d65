# SPDX-License-Identifier: Apache-2.0
#
# Tests, found by folder. Exit status 77 means "not possible here" everywhere and counts as skipped, never as passed.
#   tests/DIR/test_*.c      one cmocka executable each; those of tests/cli also link the tool's sources
#   tests/device/*.c        the same, for machines with a GPU (label device)
#   tests/support/*.c       helpers linked into all of them
#   tests/python/test_*.py  pytest files, on the shared library and the tool
#   tests/cli/test_*.sh     shell scripts that run the tool
#   examples/*.c            built against the public headers alone, and run from the top of the tree
enable_testing()
set(CTEST_TEST_TIMEOUT 600)

set(xst_test_environment "XSTAGE_LIB=$<TARGET_FILE:xstage>" "XSTAGE_SOURCE=${PROJECT_SOURCE_DIR}"
    "XSTAGE_BUILD=${CMAKE_BINARY_DIR}" "XSTAGE_BIN=${CMAKE_BINARY_DIR}/xstage"
    "XDG_DATA_HOME=${CMAKE_BINARY_DIR}/xdg" "XDG_CACHE_HOME=${CMAKE_BINARY_DIR}/xdg" "XDG_CONFIG_HOME=${CMAKE_BINARY_DIR}/xdg"
    "PYTHONDONTWRITEBYTECODE=1" "OMP_WAIT_POLICY=passive" "UBSAN_OPTIONS=print_stacktrace=1")

# Every test goes through here: name, label, command...
function(xst_add_test name label)
    add_test(NAME ${name} COMMAND ${ARGN} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${name} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 600
                                            ENVIRONMENT "${xst_test_environment}")
endfunction()

# tests/model/test_capacity.c -> target and test model.capacity
function(xst_name_of source prefix name_out)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "" name ${name})
    set(${name_out} ${prefix}.${name} PARENT_SCOPE)
endfunction()

file(GLOB xst_support_sources CONFIGURE_DEPENDS tests/support/*.c)
file(GLOB xst_unit_tests CONFIGURE_DEPENDS tests/*/test_*.c tests/device/*.c)
list(REMOVE_DUPLICATES xst_unit_tests)
if(CMOCKA_FOUND)
    # What every C test has: the folders, cmocka, the library, where the tree and the tool are.
    add_library(xst_test INTERFACE)
    target_include_directories(xst_test INTERFACE src cuda tests)
    target_include_directories(xst_test SYSTEM INTERFACE ${CMOCKA_INCLUDE_DIRS} ${JANSSON_INCLUDE_DIRS})
    target_compile_definitions(xst_test INTERFACE XST_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                  XST_BINARY="${CMAKE_BINARY_DIR}/xstage")
    target_link_libraries(xst_test INTERFACE xstage xst_flags ${CMOCKA_LIBRARIES} ${JANSSON_LIBRARIES} m
                                             ${CMAKE_DL_LIBS} pthread)
    if(xst_support_sources)
        add_library(xst_support OBJECT ${xst_support_sources})
        target_link_libraries(xst_support PUBLIC xst_test)
    endif()
    foreach(source ${xst_unit_tests})
        get_filename_component(folder ${source} DIRECTORY)
        get_filename_component(folder ${folder} NAME)
        xst_name_of(${source} ${folder} name)
        add_executable(${name} ${source})
        set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        target_link_libraries(${name} PRIVATE xst_test)
        if(TARGET xst_support)
            target_sources(${name} PRIVATE $<TARGET_OBJECTS:xst_support>)
        endif()
        if(folder STREQUAL "cli" AND TARGET xst_cli)
            target_sources(${name} PRIVATE $<TARGET_OBJECTS:xst_cli>)
            target_link_libraries(${name} PRIVATE xst_cli)
        endif()
        if(folder STREQUAL "device")
            xst_add_test(${name} device ${name})
            set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
        else()
            xst_add_test(${name} unit ${name})
        endif()
    endforeach()
else()
    message(STATUS "xstage: cmocka is missing, so the C tests are not built: run 'make setup' (libcmocka-dev)")
endif()

if(TARGET xstage_tool)
    file(GLOB xst_cli_tests CONFIGURE_DEPENDS tests/cli/test_*.sh)
    foreach(source ${xst_cli_tests})
        xst_name_of(${source} cli name)
        xst_add_test(${name}.sh cli sh ${source})
    endforeach()
endif()

# The system's Python, for which Debian packages pytest and hypothesis.
set(xst_python /usr/bin/python3)
execute_process(COMMAND ${xst_python} -c "import pytest, hypothesis" RESULT_VARIABLE xst_python_lacks OUTPUT_QUIET ERROR_QUIET)
file(GLOB xst_python_tests CONFIGURE_DEPENDS tests/python/test_*.py)
if(xst_python_lacks STREQUAL "0")
    foreach(source ${xst_python_tests})
        xst_name_of(${source} python name)
        xst_add_test(${name} python ${xst_python} -m pytest -q -p no:cacheprovider ${source})
        # Hypothesis keeps its database where it runs.
        set_tests_properties(${name} PROPERTIES WORKING_DIRECTORY ${CMAKE_BINARY_DIR})
        if(XST_SANITIZE)
            # Python itself is not instrumented, so the sanitizer's run time has to come first, and Python's own leaks are not ours.
            execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so OUTPUT_VARIABLE xst_asan
                            OUTPUT_STRIP_TRAILING_WHITESPACE)
            set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "LD_PRELOAD=${xst_asan}" "ASAN_OPTIONS=detect_leaks=0")
        endif()
    endforeach()
else()
    message(STATUS "xstage: pytest or hypothesis is missing, so tests/python is left out: run 'make setup'")
endif()

file(GLOB xst_examples CONFIGURE_DEPENDS examples/*.c)
foreach(source ${xst_examples})
    xst_name_of(${source} example name)
    add_executable(${name} ${source})
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
    target_link_libraries(${name} PRIVATE xstage xst_flags m)
    xst_add_test(${name} example ${name})
endforeach()
