package clickhouse

import (
	"fmt"
	"strings"
)

// layout says how tables are made: on one server, or on every node of a cluster.
type layout struct {
	database string
	cluster  string
}

func (l layout) table(name string) string { return quoteName(l.database) + "." + quoteName(name) }

// local is the table with the rows; on a cluster the distributed table has the plain name.
func (l layout) local(name string) string {
	if l.cluster != "" {
		name += "_local"
	}
	return l.table(name)
}

func (l layout) onCluster() string {
	if l.cluster == "" {
		return ""
	}
	return " ON CLUSTER " + quoteName(l.cluster)
}

// replacing is the engine of a table in which the newest row of a key stays: the last one written,
// or that with the highest value in a column named as the version.
func (l layout) replacing(version ...string) string {
	if l.cluster == "" {
		return "ReplacingMergeTree" + argumentList(version)
	}
	return "ReplicatedReplacingMergeTree" + argumentList(append([]string{"'/clickhouse/tables/{uuid}/{shard}'", "'{replica}'"}, version...))
}

func argumentList(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// distributed is the statement that makes the table over all nodes, or nothing on one server.
func (l layout) distributed(name, shardingKey string) string {
	if l.cluster == "" {
		return ""
	}
	return fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s%s AS %s ENGINE = Distributed(%s, %s, %s, %s)",
		l.table(name), l.onCluster(), l.local(name),
		quoteName(l.cluster), quoteName(l.database), quoteName(name+"_local"), shardingKey)
}
