package echo

// Branch returns the branch of k: entries are ordered in a branch, not among branches. The trunk is
// the zero Key, above those of visits and of each numbered tool call of a turn.
func (k Key) Branch() Key {
	p := k.Path()
	return p.Branch()
}

// Branch is [Key.Branch] of the path's key.
func (p *Path) Branch() Key {
	b := *p
	if e := p.Effect; len(e) > 0 && e[0].Kind == StepTool && e[0].Number > 0 {
		b.Effect = e[:1]
		return b.Key()
	}
	if n := len(p.Branches); n > 0 && p.isBranchMark() {
		b.Branches = p.Branches[:n-1]
	}
	if len(b.Branches) == 0 {
		return Key{}
	}
	b.Attempt, b.Turn, b.Effect = 0, 0, nil
	return b.Key()
}

// isBranchMark reports whether the path is a branch's start or end, which belong to its parent.
func (p *Path) isBranchMark() bool {
	return p.Attempt == 0 && len(p.Effect) == 1 && (p.Effect[0].Kind == StepStart || p.Effect[0].Kind == StepEnd)
}

// ParentBranch returns the branch that the branch k grows from. That of the trunk is the trunk.
func (k Key) ParentBranch() Key {
	if k.text == "" {
		return Key{}
	}
	p := k.Path()
	if len(p.Effect) > 0 {
		p.Effect = nil
	} else if n := len(p.Branches); n > 0 {
		p.Branches = p.Branches[:n-1]
	}
	return p.Key().Branch()
}
