#!/bin/sh
# Creates a role and a database for each program. The postgres image runs this script once.
set -eu
for program in relay server; do
  case $program in
    relay) password=$RELAY_PASSWORD ;;
    server) password=$SERVER_PASSWORD ;;
  esac
  psql --username postgres --set ON_ERROR_STOP=1 --set role="waxwing_$program" --set password="$password" << 'SQL'
create role :"role" login password :'password';
create database :"role" owner :"role";
SQL
done
