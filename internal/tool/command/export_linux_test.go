package command

// StatBecoming is statBecoming.
var StatBecoming = statBecoming
