# Starts the services of compose.yaml with an image that is already built, writes through one and reads from the other.
set -eu
cd "$(dirname "$0")/.."
umask 077
mkdir -p secrets
openssl rand -hex 32 > secrets/postgres
echo "db:5432:memories:memroot:$(cat secrets/postgres)" > secrets/pgpass
echo "OWNER=$(id -u):$(id -g)" > .env
trap 'docker compose logs --tail 100; docker compose down --volumes' EXIT

docker compose up --detach --wait --no-build db
docker compose run --rm one memory create team
token="$(docker compose run --rm one token new ann --write --quiet)"
docker compose up --detach --wait --no-build

team() {
  curl --silent --show-error --fail-with-body --header "Authorization: Bearer $token" "$@"
}
team --json '{"content": "The kettle is descaled on Fridays."}' http://127.0.0.1:8377/v1/memories/team/add
team 'http://127.0.0.1:8378/v1/memories/team/recall?query=kettle' | grep "descaled on Fridays"
test "$(team http://127.0.0.1:8377/v1/memories/team)" = "$(team http://127.0.0.1:8378/v1/memories/team)"
docker compose run --rm one verify-root --memory team

# No compiler, no pip, not root.
docker compose exec one sh -c '! command -v gcc && ! command -v cargo && ! command -v pip && test "$(id -u)" != 0'

# SIGTERM ends the services, without the signal that comes after the grace period.
docker compose stop
for service in one two; do
  test "$(docker inspect --format '{{.State.ExitCode}}' "memroot-$service-1")" = 0
done
