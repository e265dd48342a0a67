#!/bin/sh
# Marks the plain comments of a header for Doxygen: a line of its own speaks of what follows, one behind a declaration
# of that. What NOLINT says is the reason why the declaration is as it is, and so belongs to it. Usage: filter.sh HEADER
exec sed -E -e '/^}/b' \
  -e 's|^( *)// |\1/// |' \
  -e 's|// NOLINT(: )?|// |' \
  -e 's|([^ /] *)// +$|\1|' \
  -e 's|([^ /]) *// |\1  ///< |' \
  "$1"
