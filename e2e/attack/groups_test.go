//go:build unix

package attack

// groups lists all surfaces.
func groups() []group {
	return []group{
		paths(),
		shell(),
		commands(),
		web(),
		terminal(),
		bombs(),
		inputs(),
		serve(),
		protected(),
		git(),
		secrets(),
		record(),
		sqlOfPeople(),
		sqlOfModels(),
		engine(),
		endpoints(),
	}
}
