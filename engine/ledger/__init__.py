"""The journal, the records folded from it, and the trees and roots over both."""
