"""The journal, the records that are computed from it, and the trees and roots that commit to the two."""
