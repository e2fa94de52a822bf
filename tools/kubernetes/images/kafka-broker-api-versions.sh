#!/bin/bash
# As the official image's: whether a broker answers.
exec java -Xmx64m -cp '/opt/kafka/libs/*' kafka.admin.BrokerApiVersionsCommand "$@"
