package autocontext

// callBefore is what the call before was sent. Its own tokens and hashes are in the nodes.
type callBefore struct {
	d    *draft
	sums []int64 // sums[i]: tokens that it was sent for the nodes before i
	full int64   // tokens of the history at that call
}

// changed returns the first message of the call before for which something else is sent now.
func (c *callBefore) changed() int {
	first := c.d.view.before
	for _, i := range c.d.view.touched {
		if n := &c.d.nodes[i]; i < first && !n.was.same(&n.cur) {
			first = i
		}
	}
	return first
}

// fix takes the view as what the call before was sent.
func (c *callBefore) fix() {
	d := c.d
	v := &d.view
	from := c.changed()
	for _, i := range v.touched {
		d.nodes[i].was = d.nodes[i].cur
	}
	for i := v.before; i < len(d.nodes); i++ {
		d.nodes[i].was = d.nodes[i].cur
	}
	c.sums = c.sums[:from+1]
	for i := from; i < len(d.nodes); i++ {
		c.sums = append(c.sums, c.sums[i]+d.nodes[i].cur.tokens)
	}
	c.full, d.cut = d.full, -1
	v.touched, v.before = v.touched[:0], len(d.nodes)
}

// shared returns how much of the coming request is cached: tokens of the view, and of full
// history.
func (c *callBefore) shared(changed int) (view, full int64) {
	if c.d.view.before == 0 || c.d.carry.Cold {
		return 0, 0
	}
	return c.sums[changed], c.fullShared()
}

// fullShared returns how much of full history is as it was at the call before, in tokens: up to what a person has taken back.
func (c *callBefore) fullShared() int64 {
	if c.d.cut < 0 {
		return c.full
	}
	var sum int64
	for i := range c.d.cut {
		sum += c.d.nodes[i].size
	}
	return min(sum, c.full)
}
