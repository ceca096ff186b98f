# Starts the services of compose.yaml with an image that is already built, writes through one and reads from the other.
set -eu
cd "$(dirname "$0")/.."
# A composition that somebody uses has its password in these files, and its memories in the volume of its project.
if [ -e secrets ] || [ -e .env ]; then
  echo "secrets/ or .env exists already; run this script in a fresh clone" >&2
  exit 1
fi
export COMPOSE_PROJECT_NAME=memroot-trial
umask 077
trap 'docker compose logs --tail 100; docker compose down --volumes; rm -rf secrets .env' EXIT
mkdir secrets
openssl rand -hex 32 > secrets/postgres
echo "db:5432:memories:memroot:$(cat secrets/postgres)" > secrets/pgpass
echo "OWNER=$(id -u):$(id -g)" > .env

docker compose up --detach --wait --no-build db
# Row-level security would not bind a superuser.
test "$(docker compose exec db psql -U postgres -d memories -Atc \
  "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = 'memroot'")" = f
docker compose run --rm one memory create team
token="$(docker compose run --rm one token new ann --write --quiet)"
docker compose up --detach --wait --no-build

team() {
  curl --silent --show-error --fail-with-body --header "Authorization: Bearer $token" "$@"
}
team --json '{"content": "The kettle is descaled on Fridays."}' http://127.0.0.1:8377/v1/memories/team/add
team 'http://127.0.0.1:8378/v1/memories/team/recall?query=kettle' | grep "descaled on Fridays"
kept="$(team http://127.0.0.1:8377/v1/memories/team)"
test "$kept" = "$(team http://127.0.0.1:8378/v1/memories/team)"
docker compose run --rm one verify-root --memory team

# No compiler, no pip, not root.
docker compose exec one sh -c '! command -v gcc && ! command -v cargo && ! command -v pip && test "$(id -u)" != 0'

# SIGTERM ends the services, without the signal that comes after the grace period.
docker compose stop
for service in one two; do
  test "$(docker inspect --format '{{.State.ExitCode}}' "$COMPOSE_PROJECT_NAME-$service-1")" = 0
done

# New containers on the old volume have the same memory.
docker compose down
docker compose up --detach --wait --no-build
test "$(team http://127.0.0.1:8377/v1/memories/team)" = "$kept"
