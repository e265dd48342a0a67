#!/bin/sh
# Marks the plain comments of a header for Doxygen. A comment on a line of its own documents what follows. A comment
# behind a declaration documents that declaration, and so does the reason that follows NOLINT. Usage: filter.sh HEADER
exec sed -E -e '/^}/b' \
  -e 's|^( *)// |\1/// |' \
  -e 's|// NOLINT(: )?|// |' \
  -e 's|([^ /] *)// +$|\1|' \
  -e 's|([^ /]) *// |\1  ///< |' \
  "$1"
