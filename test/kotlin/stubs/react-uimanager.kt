package com.facebook.react.uimanager

abstract class ViewManager<T, C>
