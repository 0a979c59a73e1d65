# SPDX-License-Identifier: Apache-2.0
#
# Man pages and shell completions, made from the tool's own option table by cli/gen (xstage-docgen). They land in
# build/man and build/completions; `make install` takes them from there. Without scdoc the man pages stay in source form.
file(GLOB xst_docgen_sources CONFIGURE_DEPENDS cli/gen/*.c)
if(TARGET xst_cli AND EXISTS ${PROJECT_SOURCE_DIR}/cli/gen/docgen.c)
    add_executable(xstage-docgen ${xst_docgen_sources} $<TARGET_OBJECTS:xst_cli>)
    target_link_libraries(xstage-docgen PRIVATE xst_cli)
    set_target_properties(xstage-docgen PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/gen)
    if(NOT XST_SANITIZE AND NOT XST_FUZZ)
        add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/man/made
            COMMAND ${PROJECT_SOURCE_DIR}/scripts/make_docs.sh $<TARGET_FILE:xstage-docgen> ${CMAKE_BINARY_DIR}
            DEPENDS xstage-docgen ${PROJECT_SOURCE_DIR}/scripts/make_docs.sh
            COMMENT "Making man pages and completions" VERBATIM)
        add_custom_target(docs ALL DEPENDS ${CMAKE_BINARY_DIR}/man/made)
        set(XST_DOCS_MADE ON)
    endif()
endif()
