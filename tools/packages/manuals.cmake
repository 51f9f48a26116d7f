# Man pages and completions, generated whenever the command line is linked, so that `cmake --install` finds them. Included
# where the target nnefc is made.
set(manuals ${PROJECT_BINARY_DIR}/tools/packages)
set(zsh_folder share/zsh/site-functions)
if(NNEFC_PACKAGES)
  set(zsh_folder share/zsh/vendor-completions)
endif()
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_Interpreter_FOUND)
  add_custom_command(TARGET nnefc POST_BUILD VERBATIM
                     COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/make_manuals.py $<TARGET_FILE:nnefc> ${manuals})
  install(DIRECTORY ${manuals}/man1 DESTINATION share/man COMPONENT nnefc)
  install(FILES ${manuals}/nnefc.bash DESTINATION share/bash-completion/completions RENAME nnefc COMPONENT nnefc)
  install(FILES ${manuals}/_nnefc DESTINATION ${zsh_folder} COMPONENT nnefc)
  install(FILES ${manuals}/nnefc.fish DESTINATION share/fish/vendor_completions.d COMPONENT nnefc)
else()
  message(STATUS "nnefc: without man pages and completions, because there is no Python")
endif()
