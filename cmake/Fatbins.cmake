# SPDX-License-Identifier: Apache-2.0
#
# Device code: one fatbin a .cu file, embedded through one assembler file that also holds the table of src/gpu/fatbin.h.
# Without nvcc the table is the same with empty entries. Sets XST_FATBIN_SOURCES and XST_NVCC_VERSION ("" without nvcc).

# What each folder is compiled for: the architecture the source is written to, and what is embedded. Probes use plain Hopper
# instructions and keep PTX for later devices; the kernels use wgmma and setmaxnreg, which exist on sm_90a alone.
set(XST_NVCC_TARGET_probes compute_90 sm_90,compute_90)
set(XST_NVCC_TARGET_kernel compute_90a sm_90a)

set(XST_NVCC_VERSION "")
if(XST_CUDA)
    find_program(XST_NVCC nvcc HINTS ENV CUDACXX PATHS /usr/local/cuda/bin DOC "nvcc, for device code")
    if(DEFINED ENV{CUDACXX} AND EXISTS "$ENV{CUDACXX}" AND NOT IS_DIRECTORY "$ENV{CUDACXX}")
        set(XST_NVCC "$ENV{CUDACXX}")
    endif()
endif()
if(XST_NVCC)
    # Accept it only if it can do what we ask of it here: know sm_90a, and work with this host's compiler.
    set(trial ${CMAKE_BINARY_DIR}/CMakeFiles/nvcc_trial)
    file(WRITE ${trial}.cu "__global__ void trial(int *x) { *x = 1; }\n")
    execute_process(COMMAND ${PROJECT_SOURCE_DIR}/scripts/nvcc_fatbin.sh ${XST_NVCC} ${trial}.cu ${trial}.fatbin
                            ${XST_NVCC_TARGET_kernel}
                    RESULT_VARIABLE failed OUTPUT_VARIABLE words ERROR_VARIABLE words)
    if(failed)
        message(WARNING "${XST_NVCC} cannot compile for sm_90a, so device code is left out: ${words}")
    else()
        execute_process(COMMAND ${XST_NVCC} --version OUTPUT_VARIABLE words)
        string(REGEX MATCH "V([0-9]+\\.[0-9.]+)" words "${words}")
        set(XST_NVCC_VERSION "${CMAKE_MATCH_1}")
    endif()
endif()

file(GLOB xst_cuda_sources RELATIVE ${PROJECT_SOURCE_DIR}/cuda CONFIGURE_DEPENDS cuda/probes/*.cu cuda/*/kernel*.cu)
list(REMOVE_DUPLICATES xst_cuda_sources)
list(SORT xst_cuda_sources)

set(blobs "")
set(table "")
set(fatbins "")
foreach(source ${xst_cuda_sources})
    string(REGEX REPLACE "\\.cu$" "" name ${source})
    string(REGEX REPLACE "[^a-zA-Z0-9]" "_" symbol "xsti_fatbin_${name}")
    get_filename_component(folder ${source} DIRECTORY)
    set(fatbin ${CMAKE_BINARY_DIR}/fatbin/${name}.fatbin)
    set(include_line "")
    if(XST_NVCC_VERSION)
        set(target ${XST_NVCC_TARGET_kernel})
        if(DEFINED XST_NVCC_TARGET_${folder})
            set(target ${XST_NVCC_TARGET_${folder}})
        endif()
        add_custom_command(OUTPUT ${fatbin}
            COMMAND ${PROJECT_SOURCE_DIR}/scripts/nvcc_fatbin.sh ${XST_NVCC} cuda/${source} ${fatbin} ${target}
            DEPENDS ${PROJECT_SOURCE_DIR}/cuda/${source} ${PROJECT_SOURCE_DIR}/scripts/nvcc_fatbin.sh
            DEPFILE ${fatbin}.d
            WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
            COMMENT "Compiling device code cuda/${source}" VERBATIM)
        list(APPEND fatbins ${fatbin})
        set(include_line "    .incbin \"${fatbin}\"\n")
    endif()
    string(APPEND blobs "    .section .rodata\n    .balign 64\n    .global ${symbol}\n${symbol}:\n${include_line}"
        "${symbol}_end:\n    .byte 0\n    .balign 8\n    .global ${symbol}_size\n${symbol}_size:\n"
        "    .quad ${symbol}_end - ${symbol}\n${symbol}_name:\n    .asciz \"${name}\"\n\n")
    string(APPEND table "    .quad ${symbol}_name, ${symbol}, ${symbol}_end - ${symbol}\n")
endforeach()
list(LENGTH xst_cuda_sources XST_FATBIN_COUNT)
set(XST_FATBIN_BLOBS "${blobs}")
set(XST_FATBIN_TABLE "${table}")
set(XST_FATBIN_SOURCES ${CMAKE_BINARY_DIR}/generated/fatbins.S)
configure_file(${PROJECT_SOURCE_DIR}/cmake/fatbins.S.in ${XST_FATBIN_SOURCES} @ONLY)
set_source_files_properties(${XST_FATBIN_SOURCES} PROPERTIES OBJECT_DEPENDS "${fatbins}")
add_custom_target(fatbins DEPENDS ${fatbins})
