package memory

import (
	"maps"
	"slices"
)

// CheckFile says what is wrong with a file that comes from elsewhere: its path, or its text; "" when nothing is.
func CheckFile(path, text string) (problem string) {
	clean, problem := cleanPath(path)
	switch {
	case problem != "":
		return problem
	case clean != path || path == Root:
		return "Error: " + visible(path) + " is the path of a folder"
	}
	return Files{}.unfit(path, text)
}

// Check says why files cannot be in one bank together; "" when they can.
func (f Files) Check() (problem string) {
	for _, path := range slices.Sorted(maps.Keys(f)) {
		others := maps.Clone(f)
		delete(others, path)
		for folder := range folders(path) {
			if others.isFile(folder) {
				return others.noPlace(path)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(f))[:min(1, len(f))] {
		return f.unfit(path, f[path]) // which counts all of them
	}
	return ""
}

// Put is a person's command: it gives a file a new text, whether the file is there or not.
func (f Files) Put(path, text string) Result {
	path, problem := cleanPath(path)
	switch {
	case problem != "":
		return failed(problem)
	case f.isFile(path):
		return f.written(path, text, "")
	}
	return f.create(&Command{FileText: text}, path)
}
