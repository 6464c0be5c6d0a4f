package echo

// LastOldBuild is the commit that the last windlass was built from that reads what was written before formats were counted on:
// journals of version 1 and 2, frozen tests of version 1, and the databases of their time.
const LastOldBuild = "d265381"
