# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model files to start from: `python3 -m dist.models gpt|llama --help`."""
