#!/bin/sh
# Builds the image for amd64 and arm64, pushes it, and prints its name with its digest. Usage:
# deploy/publish-image.sh NAME, such as registry.example.com/waxwing. Needs docker buildx with a builder for both
# architectures, and a login to the registry.
set -eu
cd "$(dirname "$0")/.."
name=${1:?name the image, such as registry.example.com/waxwing}
version=$(node -p 'require("./package.json").version')
# Uses the time of the commit, so that the same commit gives the same layers.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
metadata=$(mktemp)
trap 'rm -f "$metadata"' EXIT
docker buildx build . --file deploy/Dockerfile --platform linux/amd64,linux/arm64 \
  --tag "$name:$version" --provenance=mode=max --metadata-file "$metadata" \
  --output type=image,push=true,rewrite-timestamp=true
echo "$name@$(node -p 'JSON.parse(fs.readFileSync(process.argv[1]))["containerimage.digest"]' "$metadata")"
