"""The journal, the records that are computed from the journal, and the trees and roots over both."""
