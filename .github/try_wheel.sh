# Keeps a memory with the installed distribution and its compiled kernels, outside the checkout.
set -e
cd "$(mktemp -d)"
export MEMROOT_KERNELS=native ENGINE_STORE=sqlite:notes.db
memroot --version
engine doctor
engine add "The kettle is descaled on Fridays."
engine recall "when is the kettle descaled?"
engine verify-root
