# SPDX-License-Identifier: Apache-2.0
#
# `make install`: tool, both libraries, headers, data, man pages, completions, pkg-config file and CMake package. Nothing of
# it holds an absolute path: the tool finds libxstage and share/xstage relative to itself, the package files likewise.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH xst_lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
file(RELATIVE_PATH XST_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" XST_PREFIX_FROM_PC "${XST_PREFIX_FROM_PC}")
set(xst_share ${CMAKE_INSTALL_DATADIR}/xstage)
set(xst_package ${CMAKE_INSTALL_LIBDIR}/cmake/xstage)

install(TARGETS xstage xstage_static EXPORT xstageTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET xstage_tool)
    set_target_properties(xstage_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${xst_lib_from_bin}")
    install(TARGETS xstage_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(DIRECTORY include/xstage DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
foreach(folder data profiles)
    if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/${folder})
        install(DIRECTORY ${folder} DESTINATION ${xst_share})
    endif()
endforeach()
install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
# uPlot is embedded in the library; its licence goes along.
install(FILES vendor/uplot/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.uPlot)

if(XST_DOCS_MADE)
    install(DIRECTORY ${CMAKE_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
    install(FILES ${CMAKE_BINARY_DIR}/completions/xstage
            DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions OPTIONAL)
    install(FILES ${CMAKE_BINARY_DIR}/completions/_xstage
            DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions OPTIONAL)
endif()

configure_file(cmake/xstage.pc.in generated/xstage.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/xstage.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_package_config_file(cmake/xstageConfig.cmake.in generated/xstageConfig.cmake INSTALL_DESTINATION ${xst_package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/xstageConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/xstageConfig.cmake ${CMAKE_BINARY_DIR}/generated/xstageConfigVersion.cmake
        DESTINATION ${xst_package})
install(EXPORT xstageTargets NAMESPACE xstage:: DESTINATION ${xst_package})

# The installed tree is a test of its own: scripts/check_install.sh builds a program against it in both ways.
if(NOT XST_SANITIZE AND NOT XST_FUZZ AND TARGET xstage_tool)
    xst_add_test(install install ${PROJECT_SOURCE_DIR}/scripts/check_install.sh ${CMAKE_BINARY_DIR})
endif()
