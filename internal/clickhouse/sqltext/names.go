package sqltext

import (
	_ "embed"
	"strings"
	"sync"
)

// A nameClass says what the names of functions and engines in functions.txt reach.
type nameClass string

const (
	nameScalar     nameClass = "scalar"     // functions of values
	nameHigher     nameClass = "higher"     // functions that take a function, which may be named alone
	nameAggregate  nameClass = "aggregate"  // aggregate functions
	nameCombinator nameClass = "combinator" // endings of the names of aggregate functions
	nameTable      nameClass = "table"      // table functions that stay in the database
	nameServer     nameClass = "server"     // names of the server's own things: refused to models
	nameOutward    nameClass = "outward"    // functions that reach files, programs or the network
	nameSource     nameClass = "source"     // table functions that do
	nameEngine     nameClass = "engine"     // engines that keep their rows in the database
	nameOutEngine  nameClass = "outengine"  // engines that reach outside
)

//go:embed functions.txt
var functionsText string

// nameClasses returns the names of each class in lower case, in which a test holds them apart.
var nameClasses = sync.OnceValue(func() map[nameClass]map[string]bool {
	classes := map[nameClass]map[string]bool{}
	var names map[string]bool
	for line := range strings.Lines(functionsText) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			continue
		}
		if class, ok := strings.CutSuffix(line, ":"); ok {
			names = map[string]bool{}
			classes[nameClass(class)] = names
			continue
		}
		for name := range strings.FieldsSeq(line) {
			names[strings.ToLower(name)] = true
		}
	}
	return classes
})

func isName(name string, classes ...nameClass) bool {
	name = strings.ToLower(name)
	for _, c := range classes {
		if nameClasses()[c][name] {
			return true
		}
	}
	return false
}

// reachesOutside reports whether a name reaches files, programs or the network.
func reachesOutside(name string) bool { return isName(name, nameOutward, nameSource, nameOutEngine) }

// isHarmless reports whether a name is that of a function that is known and stays in the database.
func isHarmless(name string) bool {
	return isName(name, nameScalar, nameHigher, nameAggregate, nameTable) || isCombined(strings.ToLower(name))
}

// isCombined reports whether an aggregate function has combinators, as in sumOrNullIf.
func isCombined(name string) bool {
	for c := range nameClasses()[nameCombinator] {
		if base, ok := strings.CutSuffix(name, c); ok && (isName(base, nameAggregate) || isCombined(base)) {
			return true
		}
	}
	return false
}
