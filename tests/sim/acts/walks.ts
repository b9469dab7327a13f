/** The verbs of a rotation, whichever secret it turns: the one place that knows what the hub calls them. */
export {
  advanceRotation as advance,
  cutRotation as cut,
  leaveRotation as leave,
  pauseRotation as pause,
  resumeRotation as resume,
  rollBackRotation as rollBack,
  startRotation as start,
} from '@rollcall/hub/parts';
